#include "process/stop_sequence.hpp"

#include <utility>

namespace llamavisor::process {

StopSequence::StopSequence(StopPlan plan) : plan_(std::move(plan)) {}

StopSequence::Action StopSequence::start() {
  if (state_ != State::idle) return {};
  state_ = State::stopping;
  return run_next();
}

StopSequence::Action StopSequence::step_expired() {
  if (state_ != State::stopping) return {};
  return run_next();
}

StopSequence::Action StopSequence::exited() {
  if (state_ == State::done) return {};
  state_ = State::done;
  return {.kind = Action::Kind::done, .step = {}};
}

StopSequence::Action StopSequence::run_next() {
  if (next_ == plan_.size()) {
    state_ = State::gave_up;
    return {.kind = Action::Kind::give_up, .step = {}};
  }
  return {.kind = Action::Kind::run_step, .step = plan_[next_++]};
}

bool StopSequence::stopping() const noexcept {
  return state_ == State::stopping || state_ == State::gave_up;
}

}  // namespace llamavisor::process
