/// \file
/// Models that decide by themselves: `POST /v1/systemone` of llama-server.
#pragma once

#include <llamavisor/decision.hpp>

#include "server/server_call.hpp"

#include <string_view>

namespace llamavisor::scoring {

server::ServerCall ask_native(const DecisionCase& asked);

/// The answers, without calibration: the model has its own. Throws `Error` (`protocol_error`).
Decision parse_native(const DecisionCase& asked, std::string_view body);

}  // namespace llamavisor::scoring
