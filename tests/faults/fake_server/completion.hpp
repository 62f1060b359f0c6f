// POST /completion.
#pragma once

#include "completion_request.hpp"
#include "server.hpp"

namespace fake {

void answer_completion(Server& server, Connection& connection, const Request& request);

}  // namespace fake
