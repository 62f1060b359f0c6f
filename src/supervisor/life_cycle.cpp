#include "supervisor/life_cycle.hpp"

namespace llamavisor::supervisor {

namespace {

Failure closed_failure() {
  return {.code = errc::closed, .message = "the model was closed: load it anew"};
}

Failure cancelled_failure() {
  return {.code = errc::cancelled, .message = "the load was cancelled", .phase = Phase::load};
}

Failure reload_failure() {
  return {.code = errc::server_died,
          .message = "the model was reloaded while this request ran: send it again"};
}

}  // namespace

Action LifeCycle::spawn() {
  state_ = State::loading;
  wanted_ = Wanted::running;
  ++generation_;
  return {Action::Kind::spawn};
}

Actions LifeCycle::stop(Wanted wanted) {
  state_ = State::stopping;
  wanted_ = wanted;
  return {{Action::Kind::stop}};
}

Actions LifeCycle::load() {
  switch (state_) {
    case State::idle:
    case State::failed:
      return {spawn()};
    case State::loading:
      return {};
    case State::ready: {
      auto actions = stop(Wanted::running);
      actions.push_back({Action::Kind::drop_running, reload_failure()});
      return actions;
    }
    case State::stopping:
      if (wanted_ == Wanted::closed) return {{Action::Kind::answer_load, closed_failure()}};
      wanted_ = Wanted::running;
      return {};
    case State::closed:
      return {{Action::Kind::answer_load, closed_failure()}};
  }
  return {};
}

Actions LifeCycle::abandon_load() {
  if (state_ == State::loading) return stop(Wanted::failed);
  if (state_ == State::stopping && wanted_ == Wanted::running) wanted_ = Wanted::failed;
  return {};
}

Actions LifeCycle::became_ready() {
  if (state_ != State::loading) return {};  // stopping: it came too late
  state_ = State::ready;
  return {{Action::Kind::serve}, {Action::Kind::answer_load}};
}

Actions LifeCycle::went_down(std::optional<Failure> failure) {
  if (state_ == State::closed) return {};
  if (state_ == State::stopping && wanted_ == Wanted::closed) {
    state_ = State::closed;
    return {{Action::Kind::answer_close}};
  }
  if (state_ == State::stopping && wanted_ == Wanted::running) return {spawn()};
  if (!failure) failure = cancelled_failure();
  state_ = State::failed;
  last_failure_ = failure;
  return {{Action::Kind::drop_all, failure}, {Action::Kind::answer_load, failure}};
}

Actions LifeCycle::close() {
  switch (state_) {
    case State::idle:
    case State::failed:
      state_ = State::closed;
      return {{Action::Kind::drop_all, closed_failure()}, {Action::Kind::answer_close}};
    case State::loading:
    case State::ready: {
      auto actions = stop(Wanted::closed);
      actions.push_back({Action::Kind::drop_all, closed_failure()});
      actions.push_back({Action::Kind::answer_load, closed_failure()});
      return actions;
    }
    case State::stopping:
      wanted_ = Wanted::closed;
      return {{Action::Kind::drop_all, closed_failure()},
              {Action::Kind::answer_load, closed_failure()}};
    case State::closed:
      return {{Action::Kind::answer_close}};
  }
  return {};
}

Failure LifeCycle::refusal() const {
  const bool closing =
      state_ == State::closed || (state_ == State::stopping && wanted_ == Wanted::closed);
  if (closing) return closed_failure();
  Failure failure{.code = errc::not_ready,
                  .message = "the model has failed; TextModel::reload() starts it again"};
  if (last_failure_) {
    failure.message += ": " + last_failure_->message;
    failure.causes.push_back(*last_failure_);
  }
  return failure;
}

ModelState LifeCycle::as_model_state() const noexcept {
  switch (state_) {
    case State::idle:
    case State::loading:
      return ModelState::loading;
    case State::ready:
      return ModelState::ready;
    case State::stopping:
      return wanted_ == Wanted::closed ? ModelState::closing : ModelState::loading;
    case State::failed:
      return ModelState::failed;
    case State::closed:
      return ModelState::closed;
  }
  return ModelState::failed;
}

}  // namespace llamavisor::supervisor
