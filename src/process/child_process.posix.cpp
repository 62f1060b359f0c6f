#include "process/child_process.hpp"

#include "process/launcher.posix.hpp"
#include "process/line_assembler.hpp"
#include "process/output_ring.hpp"
#include "process/proc_files.hpp"
#include "process/system_calls.hpp"
#include "runtime/timer.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/system/error_code.hpp>

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

namespace llamavisor::process {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using namespace std::chrono_literals;

// One read for each time that a pipe is readable: a flood takes turns with everything else.
constexpr std::size_t read_size = 64 * 1024;
constexpr std::chrono::milliseconds first_look_again = 10ms;
constexpr std::chrono::milliseconds last_look_again = 500ms;

// The child's end of a pipe must not be 0, 1 or 2: a host may have closed its own.
int above_standard_streams(Descriptor& descriptor, SystemCalls& calls) {
  constexpr int first = 3;
  if (descriptor.get() >= first) return 0;
  const int higher = calls.fcntl(descriptor.get(), F_DUPFD_CLOEXEC, first);
  if (higher < 0) return -1;
  descriptor.reset(higher);
  return 0;
}

}  // namespace

class ChildProcess::Impl : public std::enable_shared_from_this<Impl> {
 public:
  Impl(std::shared_ptr<Runtime> runtime, Handlers handlers, SystemCalls& calls)
      : calls_(calls),
        runtime_(std::move(runtime)),
        handlers_(std::make_shared<Handlers>(std::move(handlers))),
        executor_(runtime_->context().get_executor()),
        output_(executor_),
        errors_(executor_),
        exit_(executor_),
        handle_(executor_),
        stop_timer_(*runtime_),
        look_again_timer_(*runtime_) {}

  bool start(const SpawnRequest& request, SpawnError& error);
  void stop(StopPlan plan);
  void kill_group();
  void abandon();

  bool running() const noexcept { return !ended_; }
  bool stopping() const noexcept { return sequence_.has_value(); }
  std::int64_t pid() const noexcept { return pid_; }
  bool in_own_process() const noexcept { return runtime_->in_own_process(); }
  std::vector<std::string> last_lines(std::size_t count) const;

 private:
  struct Stream {
    explicit Stream(const asio::any_io_executor& executor) : pipe(executor) {}
    asio::posix::stream_descriptor pipe;
    LineAssembler lines;
  };

  bool open_pipe(Stream& stream, Descriptor& write_end, SpawnError& error);
  bool launch_child(const SpawnRequest& request, const Streams& streams, SpawnError& error);
  void watch_output(Stream& stream);
  bool read_once(Stream& stream, std::size_t limit);
  void drain(Stream& stream);
  void take_line(std::string_view line);

  void watch_exit();
  void look_for_exit();
  void look_again_later();
  int wait_for_exit(siginfo_t& info, int options);
  void end(const ExitStatus& status);

  void run(const StopSequence::Action& action);
  void send(const StopStep& step);
  bool still_ours();

  SystemCalls& calls_;
  std::shared_ptr<Runtime> runtime_;
  std::shared_ptr<Handlers> handlers_;  // a call in progress holds them; null once abandoned
  asio::any_io_executor executor_;
  Stream output_, errors_;
  asio::posix::stream_descriptor exit_;  // a pidfd: readable once the process has ended
  boost::process::v2::basic_process_handle<asio::any_io_executor> handle_;
  pid_t pid_ = -1;
  bool ended_ = false;
  OutputRing ring_;
  std::unique_ptr<char[]> buffer_;
  std::optional<StopSequence> sequence_;
  Timer stop_timer_, look_again_timer_;
  std::chrono::milliseconds look_again_ = first_look_again;
};

// ---- start

bool ChildProcess::Impl::open_pipe(Stream& stream, Descriptor& write_end, SpawnError& error) {
  int ends[2] = {-1, -1};
  if (calls_.pipe2(ends, O_CLOEXEC) != 0) {
    error = {.step = "pipe", .error = errno};
    return false;
  }
  Descriptor read_end(calls_, ends[0]);
  write_end.reset(ends[1]);
  if (above_standard_streams(write_end, calls_) != 0 ||
      calls_.fcntl(read_end.get(), F_SETFL, O_NONBLOCK) != 0) {
    error = {.step = "fcntl", .error = errno};
    return false;
  }
  error_code failure;
  stream.pipe.assign(read_end.get(), failure);
  if (failure) {
    error = {.step = "epoll_ctl", .error = failure.value()};
    return false;
  }
  static_cast<void>(read_end.release());
  return true;
}

bool ChildProcess::Impl::start(const SpawnRequest& request, SpawnError& error) {
  Descriptor input(calls_), output(calls_), errors(calls_);
  if (!open_pipe(output_, output, error) || !open_pipe(errors_, errors, error)) return false;
  input.reset(calls_.open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (input.get() < 0 || above_standard_streams(input, calls_) != 0) {
    error = {.step = "open", .error = errno};
    return false;
  }
  buffer_ = std::make_unique_for_overwrite<char[]>(read_size);
  const Streams streams{.in = input.get(), .out = output.get(), .error = errors.get()};
  if (!launch_child(request, streams, error)) return false;
  watch_output(output_);
  watch_output(errors_);
  watch_exit();
  return true;
}

bool ChildProcess::Impl::launch_child(const SpawnRequest& request, const Streams& streams,
                                      SpawnError& error) {
  // The handle keeps the pidfd to itself, and we wait on one of our own. Its number is taken before
  // the launch, so that a lack of descriptors shows while there is no child yet.
  Descriptor own_pidfd(calls_, calls_.fcntl(streams.in, F_DUPFD_CLOEXEC, 0));
  if (own_pidfd.get() < 0) {
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
  if (calls_.dup3(launcher.pidfd, own_pidfd.get(), O_CLOEXEC) < 0) {
    error = {.step = "dup3", .error = errno};
  } else if (exit_.assign(own_pidfd.get(), failure); failure) {
    error = {.step = "epoll_ctl", .error = failure.value()};
  } else {
    static_cast<void>(own_pidfd.release());
    return true;
  }
  Launched launched{.pid = pid_, .pidfd = Descriptor(calls_)};
  abort_launch(launched, calls_);
  return false;
}

// ---- output

void ChildProcess::Impl::watch_output(Stream& stream) {
  stream.pipe.async_wait(asio::posix::stream_descriptor::wait_read,
                         [self = shared_from_this(), &stream](error_code failure) {
                           if (failure || !stream.pipe.is_open()) return;
                           if (self->read_once(stream, read_size)) self->watch_output(stream);
                         });
}

// False where nothing more will come.
bool ChildProcess::Impl::read_once(Stream& stream, std::size_t limit) {
  const ssize_t size = calls_.read(stream.pipe.native_handle(), buffer_.get(), limit);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  if (size <= 0) {
    error_code ignored;
    stream.pipe.close(ignored);
    return false;
  }
  if (const auto handlers = handlers_; handlers && handlers->on_output) handlers->on_output();
  stream.lines.write({buffer_.get(), static_cast<std::size_t>(size)},
                     [this](std::string_view line) { take_line(line); });
  return stream.pipe.is_open();
}

void ChildProcess::Impl::take_line(std::string_view line) {
  ring_.add(line);
  if (const auto handlers = handlers_; handlers && handlers->on_line) handlers->on_line(line);
}

// What lies in the pipe when the process has ended, and no more: a grandchild may keep the pipe
// open, and go on writing, for as long as it likes.
void ChildProcess::Impl::drain(Stream& stream) {
  if (!stream.pipe.is_open()) return;
  error_code failure;
  asio::posix::descriptor_base::bytes_readable readable;
  stream.pipe.io_control(readable, failure);
  std::size_t left = failure ? 0 : readable.get();
  while (left > 0) {
    const std::size_t size = std::min(left, read_size);
    if (!read_once(stream, size)) break;
    left -= size;
  }
  stream.pipe.close(failure);
}

std::vector<std::string> ChildProcess::Impl::last_lines(std::size_t count) const {
  auto lines = ring_.last_lines(count);
  for (const auto* stream : {&output_, &errors_}) {
    if (!stream->lines.partial().empty()) lines.emplace_back(stream->lines.partial());
  }
  if (lines.size() > count) {
    lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(count));
  }
  return lines;
}

// ---- exit

void ChildProcess::Impl::watch_exit() {
  exit_.async_wait(asio::posix::stream_descriptor::wait_read,
                   [self = shared_from_this()](error_code failure) {
                     if (!failure && !self->ended_) self->look_for_exit();
                   });
}

int ChildProcess::Impl::wait_for_exit(siginfo_t& info, int options) {
  int result = 0;
  do {
    info = {};
    result = calls_.waitid(P_PIDFD, static_cast<id_t>(exit_.native_handle()), info,
                           WEXITED | WNOHANG | options);
  } while (result != 0 && errno == EINTR);
  return result;
}

void ChildProcess::Impl::look_for_exit() {
  siginfo_t info;
  if (wait_for_exit(info, WNOWAIT) == 0) {
    if (info.si_pid == 0) return look_again_later();
    // The zombie still holds its number, so the group is surely ours: what stayed in it ends here.
    calls_.kill_group(pid_, SIGKILL);
    if (wait_for_exit(info, 0) == 0) {
      if (info.si_pid == 0) return look_again_later();
      ExitStatus status;
      (info.si_code == CLD_EXITED ? status.code : status.signal) = info.si_status;
      return end(status);
    }
  }
  // The host has taken it: it ignores SIGCHLD, or waits for any child.
  if (errno == ECHILD) return end({});
  look_again_later();
}

// Under a tracer the descriptor stays readable although nothing can be reaped: waiting on it again
// at once would be a busy loop.
void ChildProcess::Impl::look_again_later() {
  look_again_timer_.arm(look_again_, [self = shared_from_this()] {
    if (!self->ended_) self->watch_exit();
  });
  look_again_ = std::min(look_again_ * 2, last_look_again);
}

void ChildProcess::Impl::end(const ExitStatus& status) {
  for (auto* stream : {&output_, &errors_})
    drain(*stream);
  for (auto* stream : {&output_, &errors_}) {
    stream->lines.finish([this](std::string_view line) { take_line(line); });
  }
  ended_ = true;
  stop_timer_.cancel();
  look_again_timer_.cancel();
  if (sequence_) static_cast<void>(sequence_->exited());
  error_code ignored;
  exit_.close(ignored);
  handle_ = decltype(handle_)(executor_);
  if (const auto handlers = std::exchange(handlers_, nullptr); handlers && handlers->on_exit) {
    handlers->on_exit(status);
  }
}

// ---- stop

void ChildProcess::Impl::stop(StopPlan plan) {
  if (sequence_ || ended_) return;
  sequence_.emplace(std::move(plan));
  run(sequence_->start());
}

void ChildProcess::Impl::run(const StopSequence::Action& action) {
  using Kind = StopSequence::Action::Kind;
  const auto next = [self = shared_from_this()] { self->run(self->sequence_->step_expired()); };
  switch (action.kind) {
    case Kind::run_step:
      send(action.step);
      stop_timer_.arm(action.step.wait, next);
      return;
    case Kind::give_up:
      // Never from within stop(), which a plan without steps would bring about.
      stop_timer_.arm(0ms, [self = shared_from_this()] {
        const auto handlers = self->handlers_;
        if (handlers && handlers->on_unreaped) handlers->on_unreaped(self->pid_);
      });
      return;
    case Kind::none:
    case Kind::done:
      return;
  }
}

void ChildProcess::Impl::send(const StopStep& step) {
  for (const int signal : step.signals) {
    if (step.whole_group && signal == SIGKILL) {
      kill_group();
    } else if (step.whole_group) {
      if (still_ours()) calls_.kill_group(pid_, signal);
    } else {
      calls_.pidfd_send_signal(exit_.native_handle(), signal);
    }
  }
}

void ChildProcess::Impl::kill_group() {
  if (ended_) return;
  if (still_ours()) calls_.kill_group(pid_, SIGKILL);
  calls_.pidfd_send_signal(exit_.native_handle(), SIGKILL);  // it may have left its group
}

// False where the host has reaped it: the number may be another's by now.
bool ChildProcess::Impl::still_ours() {
  siginfo_t info;
  return wait_for_exit(info, WNOWAIT) == 0 || errno != ECHILD;
}

void ChildProcess::Impl::abandon() {
  handlers_.reset();
  kill_group();
}

// ---- the handle

std::shared_ptr<ChildProcess> ChildProcess::spawn(std::shared_ptr<Runtime> runtime,
                                                  SpawnRequest request, Handlers handlers,
                                                  SpawnError& error) {
  return spawn(std::move(runtime), std::move(request), std::move(handlers), error,
               SystemCalls::real());
}

std::shared_ptr<ChildProcess> ChildProcess::spawn(std::shared_ptr<Runtime> runtime,
                                                  SpawnRequest request, Handlers handlers,
                                                  SpawnError& error, SystemCalls& calls) {
  error = {};
  auto impl = std::make_shared<Impl>(std::move(runtime), std::move(handlers), calls);
  if (!impl->start(request, error)) return nullptr;
  return std::shared_ptr<ChildProcess>(new ChildProcess(std::move(impl)));
}

ChildProcess::ChildProcess(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

ChildProcess::~ChildProcess() {
  if (impl_->in_own_process()) {
    impl_->abandon();
  } else {
    // A child of fork(): the process is the parent's, and so is what waits for it.
    static_cast<void>(new std::shared_ptr<Impl>(std::move(impl_)));
  }
}

void ChildProcess::stop(StopPlan plan) {
  impl_->stop(std::move(plan));
}
void ChildProcess::kill() {
  impl_->kill_group();
}
bool ChildProcess::running() const noexcept {
  return impl_->running();
}
bool ChildProcess::stopping() const noexcept {
  return impl_->stopping();
}
std::int64_t ChildProcess::pid() const noexcept {
  return impl_->pid();
}

std::vector<std::string> ChildProcess::last_lines(std::size_t count) const {
  return impl_->last_lines(count);
}

std::uint64_t ChildProcess::resident_memory() const {
  return running() ? process::resident_memory("/proc", pid()) : 0;
}

std::optional<std::uint16_t> ChildProcess::listening_tcp_port() const {
  if (!running()) return std::nullopt;
  return process::listening_tcp_port("/proc", pid());
}

}  // namespace llamavisor::process
