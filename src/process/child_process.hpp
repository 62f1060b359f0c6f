/// \file
/// A child process: spawned clean, drained always, ended surely.
#pragma once

#include "process/exit_status.hpp"
#include "process/spawn_request.hpp"
#include "process/stop_sequence.hpp"
#include "runtime/runtime.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llamavisor::process {

class SystemCalls;

/// One child process. All members and call-backs on the runtime thread.
///
/// The child has its own process group, descriptors 0 (/dev/null), 1 and 2 (drained by us) only, no
/// blocked or ignored signals, and dies with the host (`PR_SET_PDEATHSIG`).
class ChildProcess {
 public:
  struct Handlers {
    std::function<void(std::string_view line)> on_line;  ///< stdout and stderr, line by line
    std::function<void(ExitStatus)> on_exit;             ///< once; output up to then came before
    /// The stop plan ran out. Should the kernel let go of it later, `on_exit` still comes.
    std::function<void(std::int64_t pid)> on_unreaped;
    std::function<void()> on_output;  ///< bytes came, also of a line that is under way: it lives
  };

  /// Starts the child. Call-backs never come from within. On failure returns null and fills
  /// `error`; nothing is left behind then.
  static std::shared_ptr<ChildProcess> spawn(std::shared_ptr<Runtime> runtime,
                                             const SpawnRequest& request, Handlers handlers,
                                             SpawnError& error);

  /// The same with other system calls, for tests. They must outlive the process.
  static std::shared_ptr<ChildProcess> spawn(std::shared_ptr<Runtime> runtime,
                                             const SpawnRequest& request, Handlers handlers,
                                             SpawnError& error, SystemCalls& calls);

  /// Detaches what is left: the group is killed, the reap goes on in the background.
  ~ChildProcess();

  /// Runs the stop plan; `on_exit` or `on_unreaped` ends it. A second call changes nothing.
  void stop(StopPlan plan);

  /// SIGKILL to the process group now; `on_exit` follows.
  void kill();

  bool running() const noexcept;
  bool stopping() const noexcept;  ///< `stop` was called: the exit is our own doing
  std::int64_t pid() const noexcept;
  std::vector<std::string> last_lines(std::size_t count) const;
  std::uint64_t resident_memory() const;  ///< bytes, from /proc; 0 when it has ended

  /// What it and its group have used of all processors, from /proc; 0 when it has ended.
  std::chrono::milliseconds processor_time() const;

  /// One of their threads runs or waits for a processor now, from /proc; false when it has ended.
  bool wants_processor() const;

  /// The TCP port on which the child itself listens on 127.0.0.1, from /proc/<pid>/fd and
  /// /proc/net/tcp; unset while there is none.
  std::optional<std::uint16_t> listening_tcp_port() const;

  class Impl;

 private:
  explicit ChildProcess(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

}  // namespace llamavisor::process
