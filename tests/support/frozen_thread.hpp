// One thread of another process, frozen while the others live on.
#pragma once

#include <sys/types.h>

namespace llamavisor::test {

/// Freezes a thread as a driver does that never comes back: no signal reaches the process, and its
/// other threads run on. To be made and destroyed on one thread, which traces it; frozen when the
/// constructor returns. SIGKILL still ends it. Throws where tracing is not allowed.
class FrozenThread {
 public:
  explicit FrozenThread(pid_t thread);
  ~FrozenThread();
  FrozenThread(const FrozenThread&) = delete;
  FrozenThread& operator=(const FrozenThread&) = delete;

 private:
  pid_t thread_;
};

}  // namespace llamavisor::test
