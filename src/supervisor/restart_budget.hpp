/// \file
/// How often, and how soon, a server may be started again.
#pragma once

#include <llamavisor/load_options.hpp>

#include <chrono>
#include <deque>
#include <optional>

namespace llamavisor::supervisor {

/// The first restart comes at once, the next after `Recovery::first_delay`, then doubling. More
/// than `Recovery::restarts` within the window are refused. Sans-IO: the caller brings the time.
class RestartBudget {
 public:
  using Time = std::chrono::steady_clock::time_point;

  explicit RestartBudget(const Recovery& recovery) : recovery_(recovery) {}

  /// Takes one restart; its delay, or empty when the budget is spent.
  std::optional<std::chrono::milliseconds> take(Time now);

  /// A generation has proved itself.
  void clear() { taken_.clear(); }

 private:
  Recovery recovery_;
  std::deque<Time> taken_;
};

}  // namespace llamavisor::supervisor
