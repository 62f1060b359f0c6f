/// \file
/// Asks engines which devices they have.
#pragma once

#include <llamavisor/engine.hpp>

#include "server/device_question.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace llamavisor::backend {

/// One run of `llama-server --list-devices`.
struct EngineQuestion {
  Engine engine{};
  std::string device{};                ///< for which it is asked: the mask is for its kind
  std::vector<std::string> visible{};  ///< as `ServerSpec::visible`
};

/// Asks all at the same time, and waits: `limit` for each, 0 = for ever. Answers in the order of
/// the questions. Not on the runtime thread. Throws `Error` (`wrong_process`).
std::vector<server::DeviceAnswer> ask_engines(const std::vector<EngineQuestion>& questions,
                                              std::chrono::milliseconds limit);

}  // namespace llamavisor::backend
