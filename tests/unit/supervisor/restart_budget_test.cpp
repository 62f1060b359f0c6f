#include "supervisor/restart_budget.hpp"

#include "catch.hpp"

using namespace llamavisor;
using llamavisor::supervisor::RestartBudget;
using namespace std::chrono_literals;

TEST_CASE("the first restart comes at once, later ones wait twice as long each", "[supervisor]") {
  RestartBudget budget({.restarts = 12, .restart_window = 1h});
  const RestartBudget::Time now{};
  CHECK(budget.take(now) == 0ms);
  for (auto expected = 100ms; expected < 30s; expected *= 2)
    CHECK(budget.take(now) == expected);
  CHECK(budget.take(now) == 30s);
}

TEST_CASE("more restarts than the window allows are refused, until it has moved on",
          "[supervisor]") {
  RestartBudget budget({.restarts = 2, .restart_window = 60s});
  RestartBudget::Time now{};
  CHECK(budget.take(now));
  CHECK(budget.take(now + 1s));
  CHECK_FALSE(budget.take(now + 2s));
  CHECK(budget.take(now + 61s));
  budget.clear();
  CHECK(budget.take(now + 61s) == 0ms);
}

TEST_CASE("no restarts means none", "[supervisor]") {
  RestartBudget budget({.restarts = 0});
  CHECK_FALSE(budget.take({}));
}
