#include "supervisor/restart_budget.hpp"

#include <algorithm>

namespace llamavisor::supervisor {

std::optional<std::chrono::milliseconds> RestartBudget::take(Time now) {
  while (!taken_.empty() && now - taken_.front() > recovery_.restart_window)
    taken_.pop_front();
  const auto count = static_cast<int>(taken_.size());
  if (count >= recovery_.restarts) return std::nullopt;
  auto delay = std::chrono::milliseconds{0};
  if (count > 0) delay = recovery_.first_delay;
  for (int doubling = 1; doubling < count && delay < recovery_.longest_delay; ++doubling)
    delay *= 2;
  taken_.push_back(now);
  return std::min(delay, recovery_.longest_delay);
}

}  // namespace llamavisor::supervisor
