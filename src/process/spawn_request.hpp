/// \file
/// What to start, and why it could not be started.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace llamavisor::process {

struct SpawnRequest {
  std::vector<std::string> command;         ///< the executable's absolute path, then its arguments
  std::vector<std::string> environment;     ///< "NAME=value", all of it
  std::filesystem::path working_directory;  ///< empty = the host's
  std::optional<int> oom_score_adj;         ///< what the child sets for itself; unset = inherited
};

/// Why a spawn failed: the step ("execve", "chdir", "pipe", ...) and its errno.
struct SpawnError {
  std::string step;
  int error = 0;
};

}  // namespace llamavisor::process
