/// \file
/// The events of a model, kept.
#pragma once

#include <llamavisor/event.hpp>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <vector>

namespace llamavisor::cli {

/// Collects events from the event thread. Any thread.
class EventLog {
 public:
  void add(const Event& event);

  /// All events of a model that is gone. They are told on a thread of their own, a little later
  /// than the calls that they belong to return: waits until the last one has come, but no longer
  /// than `limit`; and, unless `any_expected`, not for the first one.
  std::vector<Event> settled(bool any_expected, std::chrono::milliseconds limit);

 private:
  std::mutex mutex_;
  std::condition_variable added_;
  std::vector<Event> events_;
};

}  // namespace llamavisor::cli
