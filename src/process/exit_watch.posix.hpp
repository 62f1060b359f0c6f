/// \file
/// A running child by its pidfd: its end, and the signals to it. Included by files that know asio
/// only.
#pragma once

#include "process/exit_status.hpp"
#include "process/launcher.posix.hpp"
#include "process/spawn_request.hpp"
#include "process/system_calls.hpp"
#include "runtime/runtime.hpp"
#include "runtime/timer.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include <chrono>
#include <functional>
#include <memory>

namespace llamavisor::process {

/// Tells of the end of one child as soon as the kernel does, reaps it, and nobody else's. A number
/// is used for a signal only as long as it is surely still the child's.
class ExitWatch {
 public:
  ExitWatch(Runtime& runtime, SystemCalls& calls);

  /// Starts the program. On failure nothing is left behind.
  bool launch(const SpawnRequest& request, const Streams& streams, SpawnError& error);

  /// Calls back once, after the reap, never from within. The owner of this watch is kept until
  /// then.
  void watch(std::shared_ptr<void> owner, std::function<void(const ExitStatus&)> on_exit);

  void signal_process(int signal);
  void signal_group(int signal);
  /// SIGKILL to the group, and to the process should it have left that.
  void kill();

  pid_t pid() const noexcept { return pid_; }
  bool ended() const noexcept { return ended_; }

 private:
  bool keep_pidfd(int pidfd, Descriptor& own, SpawnError& error);
  void wait();
  void look();
  void look_again_later();
  int wait_id(siginfo_t& info, int options);
  ExitStatus status_taken_by_host();
  bool still_ours();
  void end(const ExitStatus& status);

  SystemCalls& calls_;
  boost::asio::any_io_executor executor_;
  boost::asio::posix::stream_descriptor pidfd_;  // readable once the process has ended
  boost::process::v2::basic_process_handle<boost::asio::any_io_executor> handle_;
  pid_t pid_ = -1;
  bool ended_ = false;
  std::shared_ptr<void> owner_;
  std::function<void(const ExitStatus&)> on_exit_;
  Timer timer_;
  std::chrono::milliseconds look_again_;
};

}  // namespace llamavisor::process
