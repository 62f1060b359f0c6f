// One prompt's way through the server: its slot, its prompt, its tokens, and the script's faults.
#pragma once

#include "completion_request.hpp"
#include "completion_stream.hpp"
#include "server.hpp"

#include <string>

namespace fake {

struct RunResult {
  std::string json{};  ///< the last event, or the whole answer; empty when it was ended otherwise
  int tokens = 0;
  std::string stop_type{};
};

/// The body of the server's answer when it cannot compute.
const std::string& compute_error_body();

/// `index`: which of the request's prompts. `faulty`: the script's faults are for it. Throws
/// `Gone` when the client is.
RunResult run_completion(Server& server, Connection& connection, CompletionStream& stream,
                         const CompletionRequest& request, std::size_t index, bool faulty);

}  // namespace fake
