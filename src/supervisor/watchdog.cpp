#include "supervisor/watchdog.hpp"

#include <algorithm>

namespace llamavisor::supervisor {

std::chrono::milliseconds Watchdog::soft() const {
  return expectation_ == Expectation::prompt ? limits_.prompt_soft : limits_.generation_soft;
}

std::chrono::milliseconds Watchdog::hard() const {
  return expectation_ == Expectation::prompt ? limits_.prompt_hard : limits_.generation_hard;
}

void Watchdog::expect(Expectation expectation, Time now) {
  if (expectation == expectation_) return;
  expectation_ = expectation;
  progress(now);
}

void Watchdog::progress(Time now) {
  last_progress_ = quiet_since_ = now;
  probed_at_.reset();
}

void Watchdog::spare(Time now) {
  probed_at_.reset();
  quiet_since_ = now;
}

std::optional<Watchdog::Time> Watchdog::deadline() const {
  if (expectation_ == Expectation::nothing) return std::nullopt;
  std::optional<Time> next;
  const auto consider = [&](Time since, std::chrono::milliseconds limit) {
    if (limit.count() == 0) return;
    next = next ? std::min(*next, since + limit) : since + limit;
  };
  consider(last_progress_, hard());
  if (probed_at_) {
    consider(*probed_at_, limits_.probe);
  } else if (limits_.probe.count() > 0) {
    consider(quiet_since_, soft());
  }
  return next;
}

Watchdog::Action Watchdog::expired(Time now) {
  const auto over = [&](Time since, std::chrono::milliseconds limit) {
    return limit.count() > 0 && now - since >= limit;
  };
  if (expectation_ == Expectation::nothing) return Action::none;
  if (over(last_progress_, hard())) return Action::hung;
  if (probed_at_) return over(*probed_at_, limits_.probe) ? Action::unanswered : Action::none;
  if (limits_.probe.count() == 0 || !over(quiet_since_, soft())) return Action::none;
  probed_at_ = now;
  return Action::probe;
}

}  // namespace llamavisor::supervisor
