#include "runtime/timer.hpp"

#include "runtime/after_fork.hpp"
#include "runtime/thread_setup.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <cstdint>
#include <utility>

namespace llamavisor {

// Shared with the pending wait: a wait that is due can no longer be cancelled in asio, so each
// arming has a number, and a call-back with an old number is silent.
struct Timer::State {
  explicit State(Runtime& runtime) : timer(runtime.context()) {}

  boost::asio::steady_timer timer;
  std::function<void()> on_expiry;
  std::uint64_t arming = 0;
  const long process = current_process();
};

Timer::Timer(Runtime& runtime) : state_(std::make_shared<State>(runtime)) {}

Timer::~Timer() {
  if (!state_) return;  // moved from
  if (state_->process == current_process()) {
    cancel();
  } else {
    // A child of fork(): the timer's queue is a copy with locks in an unknown state.
    keep_for_ever(std::move(state_));
  }
}

Timer::Timer(Timer&&) noexcept = default;

Timer& Timer::operator=(Timer&& other) noexcept {
  if (this != &other) {
    if (state_) cancel();
    state_ = std::move(other.state_);
  }
  return *this;
}

void Timer::arm(std::chrono::milliseconds delay, std::function<void()> on_expiry) {
  cancel();
  state_->on_expiry = std::move(on_expiry);
  state_->timer.expires_after(delay);
  state_->timer.async_wait([state = state_, arming = state_->arming](boost::system::error_code) {
    if (arming != state->arming) return;
    // Taken out first: the call-back may arm the timer again, or destroy it.
    const auto call = std::exchange(state->on_expiry, nullptr);
    if (call) call();
  });
}

void Timer::cancel() {
  ++state_->arming;
  state_->timer.cancel();
  // Destroyed last: its captures may own this timer.
  const auto dropped = std::exchange(state_->on_expiry, nullptr);
}

}  // namespace llamavisor
