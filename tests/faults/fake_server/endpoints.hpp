// The paths that the server knows.
#pragma once

#include "server.hpp"

namespace fake {

/// Answers a request that has been let in. Throws `Gone`.
void answer_endpoint(Server& server, Connection& connection, const Request& request);

}  // namespace fake
