#include "process/child_process.hpp"

#include "process/exit_watch.posix.hpp"
#include "process/output_pipe.posix.hpp"
#include "process/output_ring.hpp"
#include "process/proc_files.hpp"
#include "process/system_calls.hpp"
#include "runtime/after_fork.hpp"
#include "runtime/timer.hpp"

#include <boost/asio/io_context.hpp>

#include <fcntl.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <utility>

namespace llamavisor::process {

// Kept by its own exit watch until the child is reaped, also where nobody else wants it any more;
// and it keeps the runtime, whose thread must outlive the child.
class ChildProcess::Impl : public std::enable_shared_from_this<Impl> {
 public:
  Impl(std::shared_ptr<Runtime> runtime, Handlers handlers, SystemCalls& calls)
      : calls_(calls),
        runtime_(std::move(runtime)),
        handlers_(std::make_shared<Handlers>(std::move(handlers))),
        output_(runtime_->context().get_executor(), calls, pipe_handlers()),
        errors_(runtime_->context().get_executor(), calls, pipe_handlers()),
        exit_(*runtime_, calls),
        stop_timer_(*runtime_) {}

  bool start(const SpawnRequest& request, SpawnError& error) {
    Descriptor input(calls_), output(calls_), errors(calls_);
    if (!output_.open(output, error) || !errors_.open(errors, error)) return false;
    input.reset(calls_.open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (input.get() < 0 || !move_above_standard_streams(input, calls_)) {
      error = {.step = "open", .error = errno};
      return false;
    }
    const Streams streams{.in = input.get(), .out = output.get(), .error = errors.get()};
    if (!exit_.launch(request, streams, error)) return false;
    const auto self = shared_from_this();
    output_.watch(self);
    errors_.watch(self);
    exit_.watch(self, [this](const ExitStatus& status) { ended(status); });
    return true;
  }

  void stop(StopPlan plan) {
    if (sequence_ || exit_.ended()) return;
    sequence_.emplace(std::move(plan));
    run(sequence_->start());
  }

  void kill() { exit_.kill(); }

  // Nobody wants it any more. A handler that is being called lives on until it returns.
  void abandon() {
    handlers_.reset();
    exit_.kill();
  }

  bool running() const noexcept { return !exit_.ended(); }
  bool stopping() const noexcept { return sequence_.has_value(); }
  std::int64_t pid() const noexcept { return exit_.pid(); }
  bool in_own_process() const noexcept { return runtime_->in_own_process(); }

  std::vector<std::string> last_lines(std::size_t count) const {
    auto lines = ring_.last_lines(count);
    for (const auto* pipe : {&output_, &errors_}) {
      if (!pipe->partial_line().empty()) lines.emplace_back(pipe->partial_line());
    }
    if (lines.size() > count) {
      lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(count));
    }
    return lines;
  }

 private:
  OutputPipe::Handlers pipe_handlers() {
    return {.on_bytes =
                [this] {
                  if (const auto call = handlers_; call && call->on_output) call->on_output();
                },
            .on_line =
                [this](std::string_view line) {
                  ring_.add(line);
                  if (const auto call = handlers_; call && call->on_line) call->on_line(line);
                }};
  }

  void ended(const ExitStatus& status) {
    stop_timer_.cancel();
    if (sequence_) static_cast<void>(sequence_->exited());
    output_.finish();
    errors_.finish();
    if (const auto call = std::exchange(handlers_, nullptr); call && call->on_exit) {
      call->on_exit(status);
    }
  }

  void run(const StopSequence::Action& action) {
    using Kind = StopSequence::Action::Kind;
    using namespace std::chrono_literals;
    if (action.kind == Kind::run_step) {
      send(action.step);
      stop_timer_.arm(action.step.wait, [this] { run(sequence_->step_expired()); });
    } else if (action.kind == Kind::give_up) {
      // Never from within stop(), which a plan without steps would bring about.
      stop_timer_.arm(0ms, [this] {
        const auto call = handlers_;
        if (call && call->on_unreaped) call->on_unreaped(pid());
      });
    }
  }

  void send(const StopStep& step) {
    for (const int signal : step.signals) {
      if (!step.whole_group) {
        exit_.signal_process(signal);
      } else if (signal == SIGKILL) {
        exit_.kill();
      } else {
        exit_.signal_group(signal);
      }
    }
  }

  SystemCalls& calls_;
  std::shared_ptr<Runtime> runtime_;
  std::shared_ptr<Handlers> handlers_;  // null once it has ended, or nobody wants it
  OutputRing ring_;
  OutputPipe output_, errors_;
  ExitWatch exit_;
  std::optional<StopSequence> sequence_;
  Timer stop_timer_;
};

std::shared_ptr<ChildProcess> ChildProcess::spawn(std::shared_ptr<Runtime> runtime,
                                                  const SpawnRequest& request, Handlers handlers,
                                                  SpawnError& error) {
  return spawn(std::move(runtime), request, std::move(handlers), error, SystemCalls::real());
}

std::shared_ptr<ChildProcess> ChildProcess::spawn(std::shared_ptr<Runtime> runtime,
                                                  const SpawnRequest& request, Handlers handlers,
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
    keep_for_ever(std::move(impl_));
  }
}

void ChildProcess::stop(StopPlan plan) {
  impl_->stop(std::move(plan));
}
void ChildProcess::kill() {
  impl_->kill();
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

std::chrono::milliseconds ChildProcess::processor_time() const {
  return running() ? process::processor_time("/proc", pid()) : std::chrono::milliseconds{0};
}

bool ChildProcess::wants_processor() const {
  return running() && process::wants_processor("/proc", pid());
}

std::optional<std::uint16_t> ChildProcess::listening_tcp_port() const {
  if (!running()) return std::nullopt;
  return process::listening_tcp_port("/proc", pid());
}

}  // namespace llamavisor::process
