#include "process/stop_sequence.hpp"

#include <signal.h>

namespace llamavisor::process {

StopPlan default_stop_plan(std::chrono::milliseconds grace, std::chrono::milliseconds reap) {
  return {
      StopStep{.signals = {SIGTERM, SIGCONT}, .whole_group = false, .wait = grace},
      StopStep{.signals = {SIGKILL}, .whole_group = true, .wait = reap},
  };
}

}  // namespace llamavisor::process
