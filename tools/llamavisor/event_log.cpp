#include "llamavisor/event_log.hpp"

#include <algorithm>

namespace llamavisor::cli {

namespace {

/// A model that was ready ends by being stopped, or by failing; a load that is given up is stopped
/// first, and has failed then.
bool ended(const std::vector<Event>& events) {
  const auto last = events.back().kind;
  const bool was_ready = std::any_of(events.begin(), events.end(), [](const Event& event) {
    return event.kind == Event::Kind::ready;
  });
  return last == Event::Kind::failed || (was_ready && last == Event::Kind::stopped);
}

}  // namespace

void EventLog::add(const Event& event) {
  const std::lock_guard lock(mutex_);
  events_.push_back(event);
  added_.notify_all();
}

std::vector<Event> EventLog::settled(bool any_expected, std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  added_.wait_for(lock, limit, [&] { return events_.empty() ? !any_expected : ended(events_); });
  return events_;
}

}  // namespace llamavisor::cli
