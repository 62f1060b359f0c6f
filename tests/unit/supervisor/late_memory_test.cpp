#include "supervisor/late_memory.hpp"

#include "catch.hpp"

#include <chrono>
#include <vector>

using namespace llamavisor::supervisor;
using namespace std::chrono_literals;

namespace {

using Time = MemoryShortage::Time;

constexpr Time start{};  // of the departure

}  // namespace

TEST_CASE("the waits for memory double, and the last one ends with the limit", "[supervisor]") {
  auto now = start + 30ms;
  std::vector<std::chrono::milliseconds> waits;
  while (const auto wait =
             wait_for_memory({.spawned_at = now, .now = now, .departure = start}, 5s)) {
    waits.push_back(*wait);
    now += *wait;
  }
  CHECK(waits ==
        std::vector<std::chrono::milliseconds>{100ms, 130ms, 260ms, 520ms, 1040ms, 2080ms, 840ms});
  CHECK(now == start + 5s);
}

TEST_CASE("a load that began before the limit and failed after it is tried once more, at once",
          "[supervisor]") {
  CHECK(wait_for_memory({.spawned_at = start + 4s, .now = start + 60s, .departure = start}, 5s) ==
        0ms);
  CHECK_FALSE(
      wait_for_memory({.spawned_at = start + 60s, .now = start + 61s, .departure = start}, 5s));
}

TEST_CASE("memory that another server gave back during the load counts as well", "[supervisor]") {
  CHECK(wait_for_memory({.spawned_at = start - 10s, .now = start, .departure = start}, 5s) ==
        100ms);
}

TEST_CASE("without a departure, or without a limit, nothing is waited for", "[supervisor]") {
  CHECK_FALSE(wait_for_memory({.spawned_at = start, .now = start}, 5s));
  CHECK_FALSE(wait_for_memory({.spawned_at = start, .now = start, .departure = start}, 0ms));
}
