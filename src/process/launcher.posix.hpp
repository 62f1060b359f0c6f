/// \file
/// A launcher in Boost.Process's shape, in the place of those that it brings.
///
/// Its default launcher runs `notify_fork` in a copy of a threaded process, leaves descriptors open
/// and the signal mask as it is, and a failed exec leaves a zombie; its vfork launcher crashed.
/// Included by one file only.
#pragma once

#include "process/launch.posix.hpp"

// Boost.Process 1.81 uses it without including it.
#include <boost/asio/detail/throw_error.hpp>
#include <boost/process/v2/pid.hpp>
#include <boost/process/v2/process.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/system_category.hpp>
#include <boost/system/system_error.hpp>

#include <string>
#include <utility>

namespace llamavisor::process {

struct Launcher {
  SystemCalls& calls;
  Streams streams;
  int pidfd = -1;                ///< of the last launch; the handle owns it
  std::string failed_step = {};  ///< of the last launch, where it failed

  /// The result kills and waits when it is destroyed: detach it at once.
  template <typename Executor>
  boost::process::v2::basic_process<Executor> operator()(Executor executor,
                                                         boost::system::error_code& error,
                                                         const SpawnRequest& request) {
    using Process = boost::process::v2::basic_process<Executor>;
    SpawnError failure;
    Launched launched = launch(request, streams, calls, failure);
    if (!failure.step.empty()) {
      failed_step = failure.step;
      error.assign(failure.error, boost::system::system_category());
      return Process(std::move(executor));
    }
    try {
      Process process(std::move(executor), launched.pid, launched.pidfd.get());
      pidfd = launched.pidfd.release();
      return process;
    } catch (const boost::system::system_error& problem) {  // the reactor has no room
      abort_launch(launched, calls);
      failed_step = "epoll_ctl";
      error = problem.code();
      return Process(std::move(executor));
    }
  }
};

}  // namespace llamavisor::process
