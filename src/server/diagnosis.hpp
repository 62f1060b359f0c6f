/// \file
/// From evidence to a cause, and from a cause to what a person can do. The only place that reads
/// the texts of a log.
#pragma once

#include <llamavisor/error.hpp>

#include "process/exit_status.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llamavisor::server {

/// What is known of a server process that failed.
struct Evidence {
  Phase phase = Phase::none;
  std::optional<process::ExitStatus> exit{};  ///< unset when it never ran, or was ended by us
  bool on_gpu = false;                        ///< the process was meant for a GPU
  bool any_output = true;                     ///< it wrote at least one line
  std::vector<std::string> last_lines{};      ///< oldest first
};

struct Diagnosis {
  Cause cause = Cause::unknown;
  std::string detail{};  ///< the line, or the library's name, that gave the cause away
};

/// Looks the evidence up in one table, most telling row first. Never throws.
Diagnosis diagnose(const Evidence& evidence);

/// The code for callers: a cause that is the model's, the engine's or the memory's own has its own
/// code in every phase; anything else is `load_failed` before the server was ready and
/// `server_died` after.
errc code_for(Cause cause, Phase phase) noexcept;

/// One line of advice for a person; empty where there is none.
std::string_view advice(Cause cause) noexcept;

/// All of it as a failure, with a message such as "llama-server (vulkan:0) was ended by SIGKILL
/// while generating: killed from outside, ...". `device` as in "vulkan:0".
Failure make_failure(const Evidence& evidence, std::string_view device);

}  // namespace llamavisor::server
