#include "process/exit_status.hpp"

namespace llamavisor::process {

std::string describe(const ExitStatus& status) {
  if (status.signal) return "was ended by " + signal_name(*status.signal);
  if (status.code) return "exited with code " + std::to_string(*status.code);
  // A host that ignores SIGCHLD, or waits for any child, has taken the status.
  return "ended, its exit status was taken by the host";
}

}  // namespace llamavisor::process
