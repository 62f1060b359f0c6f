#include "event_log.hpp"

#include "processes.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <string>

namespace llamavisor::test {

struct EventLog::State {
  std::mutex mutex;
  std::condition_variable changed;
  Events events;
};

EventLog::EventLog() : state_(std::make_shared<State>()) {}

EventHandler EventLog::handler() const {
  return [state = state_](const Event& event) {
    const std::lock_guard lock(state->mutex);
    state->events.push_back(event);
    state->changed.notify_all();
  };
}

EventLog::Events EventLog::all() const {
  const std::lock_guard lock(state_->mutex);
  return state_->events;
}

EventLog::Events EventLog::of(Kind kind) const {
  auto events = all();
  std::erase_if(events, [&](const Event& event) { return event.kind != kind; });
  return events;
}

int EventLog::count(Kind kind) const {
  return static_cast<int>(of(kind).size());
}

std::vector<EventLog::Kind> EventLog::kinds() const {
  std::vector<Kind> kinds;
  for (const auto& event : all())
    kinds.push_back(event.kind);
  return kinds;
}

void EventLog::wait_until(const std::function<bool(const Events&)>& condition) const {
  std::unique_lock lock(state_->mutex);
  if (state_->changed.wait_for(lock, hang_guard, [&] { return condition(state_->events); })) return;
  std::string seen;
  for (const auto& event : state_->events)
    seen.append("\n  ").append(name(event.kind)).append(": ").append(event.message);
  throw std::runtime_error("waited in vain for an event; there were:" + seen);
}

Event EventLog::wait_for(Kind kind, int n) const {
  Event found;
  wait_until([&](const Events& events) {
    int left = n;
    for (const auto& event : events) {
      if (event.kind != kind || --left > 0) continue;
      found = event;
      return true;
    }
    return false;
  });
  return found;
}

bool EventLog::comes_to(Kind kind, int n) const {
  wait_for(kind, n);
  return count(kind) == n;
}

void EventLog::clear() {
  const std::lock_guard lock(state_->mutex);
  state_->events.clear();
}

}  // namespace llamavisor::test
