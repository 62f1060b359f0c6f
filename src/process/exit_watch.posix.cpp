#include "process/exit_watch.posix.hpp"

#include "process/descriptor.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/descriptor_base.hpp>
#include <boost/system/error_code.hpp>

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace llamavisor::process {
namespace {

using boost::system::error_code;
using namespace std::chrono_literals;

constexpr std::chrono::milliseconds first_look_again = 10ms;
constexpr std::chrono::milliseconds last_look_again = 500ms;

}  // namespace

ExitWatch::ExitWatch(Runtime& runtime, SystemCalls& calls)
    : calls_(calls),
      executor_(runtime.context().get_executor()),
      pidfd_(executor_),
      handle_(executor_),
      timer_(runtime),
      look_again_(first_look_again) {}

bool ExitWatch::launch(const SpawnRequest& request, const Streams& streams, SpawnError& error) {
  // The handle keeps its pidfd to itself, and we wait on one of our own. That one's number is taken
  // before the launch, so that a lack of descriptors shows while there is no child yet.
  Descriptor own(calls_, calls_.fcntl(streams.in, F_DUPFD_CLOEXEC, 0));
  if (own.get() < 0) {
    error = {.step = "fcntl", .error = errno};
    return false;
  }
  error_code failure;
  Launcher launcher{.calls = calls_, .streams = streams};
  auto process = launcher(executor_, failure, request);
  if (failure) {
    error = {.step = launcher.failed_step, .error = failure.value()};
    return false;
  }
  // Detached at once: its destructor kills and waits without limit, and a number that was given to
  // another process since could be the host's own child.
  handle_ = process.detach();
  pid_ = handle_.id();
  if (keep_pidfd(launcher.pidfd, own, error)) return true;
  Launched launched{.pid = pid_, .pidfd = Descriptor(calls_, launcher.pidfd)};
  abort_launch(launched, calls_);
  static_cast<void>(launched.pidfd.release());  // the handle's
  ended_ = true;
  return false;
}

bool ExitWatch::keep_pidfd(int pidfd, Descriptor& own, SpawnError& error) {
  if (calls_.dup3(pidfd, own.get(), O_CLOEXEC) < 0) {
    error = {.step = "dup3", .error = errno};
    return false;
  }
  error_code failure;
  pidfd_.assign(own.get(), failure);
  if (failure) {
    error = {.step = "epoll_ctl", .error = failure.value()};
    return false;
  }
  static_cast<void>(own.release());
  return true;
}

void ExitWatch::watch(std::shared_ptr<void> owner, std::function<void(const ExitStatus&)> on_exit) {
  owner_ = std::move(owner);  // given back by end()
  on_exit_ = std::move(on_exit);
  wait();
}

void ExitWatch::wait() {
  pidfd_.async_wait(boost::asio::posix::descriptor_base::wait_read, [this](error_code failure) {
    if (!failure && !ended_) look();
  });
}

int ExitWatch::wait_id(siginfo_t& info, int options) {
  int result = 0;
  do {
    info = {};
    result = calls_.waitid(P_PIDFD, static_cast<id_t>(pidfd_.native_handle()), info,
                           WEXITED | WNOHANG | options);
  } while (result != 0 && errno == EINTR);
  return result;
}

void ExitWatch::look() {
  siginfo_t info;
  int result = wait_id(info, WNOWAIT);
  if (result == 0 && info.si_pid != 0) {
    // The zombie still holds its number, so the group is surely ours: what stayed in it ends here.
    calls_.kill_group(pid_, SIGKILL);
    result = wait_id(info, 0);
    if (result == 0 && info.si_pid != 0) {
      ExitStatus status;
      (info.si_code == CLD_EXITED ? status.code : status.signal) = info.si_status;
      return end(status);
    }
  }
  if (result != 0 && errno == ECHILD) return end(status_taken_by_host());
  look_again_later();
}

// The host has reaped it: it ignores SIGCHLD, or waits for any child. Newer kernels still know.
ExitStatus ExitWatch::status_taken_by_host() {
  ExitStatus result;
  int status = 0;
  if (calls_.pidfd_exit_status(pidfd_.native_handle(), status) != 0) return result;
  if (WIFEXITED(status)) result.code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  return result;
}

// Under a tracer the descriptor stays readable although nothing can be reaped: waiting on it again
// at once would be a busy loop.
void ExitWatch::look_again_later() {
  timer_.arm(look_again_, [this] { wait(); });
  look_again_ = std::min(look_again_ * 2, last_look_again);
}

void ExitWatch::end(const ExitStatus& status) {
  ended_ = true;
  timer_.cancel();
  error_code ignored;
  pidfd_.close(ignored);
  handle_ = decltype(handle_)(executor_);
  const auto owner = std::exchange(owner_, nullptr);
  const auto on_exit = std::exchange(on_exit_, nullptr);
  on_exit(status);
}

void ExitWatch::signal_process(int signal) {
  if (!ended_) calls_.pidfd_send_signal(pidfd_.native_handle(), signal);
}

void ExitWatch::signal_group(int signal) {
  if (!ended_ && still_ours()) calls_.kill_group(pid_, signal);
}

void ExitWatch::kill() {
  signal_group(SIGKILL);
  signal_process(SIGKILL);
}

// False where the host has reaped it: the number may be another process's by now.
bool ExitWatch::still_ours() {
  siginfo_t info;
  return wait_id(info, WNOWAIT) == 0 || errno != ECHILD;
}

}  // namespace llamavisor::process
