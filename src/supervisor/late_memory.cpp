#include "supervisor/late_memory.hpp"

#include <algorithm>

namespace llamavisor::supervisor {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds shortest_wait{100};

}  // namespace

std::optional<milliseconds> wait_for_memory(const MemoryShortage& shortage, milliseconds limit) {
  if (limit.count() == 0 || !shortage.departure) return std::nullopt;
  const auto end = *shortage.departure + limit;
  if (shortage.spawned_at >= end) return std::nullopt;
  if (shortage.now >= end) return milliseconds{0};  // it took longer to fail than there is to wait
  const auto left = std::chrono::ceil<milliseconds>(end - shortage.now);
  const auto passed = std::chrono::ceil<milliseconds>(shortage.now - *shortage.departure);
  return std::min(std::max(passed, shortest_wait), left);
}

}  // namespace llamavisor::supervisor
