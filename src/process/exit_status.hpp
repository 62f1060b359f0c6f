/// \file
/// How a process ended.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace llamavisor::process {

struct ExitStatus {
  std::optional<int> code;    ///< it called exit
  std::optional<int> signal;  ///< a signal ended it
};

/// "SIGKILL", "SIGSEGV", ...; "signal 77" where it has no name. Never throws.
std::string signal_name(int signal);

/// "exited with code 1", "was ended by SIGKILL".
std::string describe(const ExitStatus& status);

}  // namespace llamavisor::process
