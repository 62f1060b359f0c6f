#include "supervisor/watchdog.hpp"

#include "catch.hpp"

using namespace llamavisor;
using namespace llamavisor::supervisor;
using namespace std::chrono_literals;
using Act = Watchdog::Action;

namespace {

const Limits limits{.prompt_soft = 30s,
                    .prompt_hard = 600s,
                    .generation_soft = 10s,
                    .generation_hard = 60s,
                    .probe = 5s};
const Watchdog::Time start{1h};

}  // namespace

TEST_CASE("a server of which nothing is expected is never hung", "[supervisor]") {
  Watchdog dog(limits);
  CHECK_FALSE(dog.deadline());
  CHECK(dog.expired(start + 24h) == Act::none);
}

TEST_CASE("silence is probed at the soft limit, and doubted when the probe stays unanswered",
          "[supervisor]") {
  Watchdog dog(limits);
  dog.expect(Expectation::generation, start);
  CHECK(dog.deadline() == start + 10s);
  CHECK(dog.expired(start + 9s) == Act::none);
  CHECK(dog.expired(start + 10s) == Act::probe);
  CHECK(dog.deadline() == start + 15s);
  CHECK(dog.expired(start + 14s) == Act::none);
  CHECK(dog.expired(start + 15s) == Act::unanswered);
}

TEST_CASE("a busy server, which answers the probe or computes, is spared, and probed again",
          "[supervisor]") {
  Watchdog dog(limits);
  dog.expect(Expectation::generation, start);
  REQUIRE(dog.expired(start + 10s) == Act::probe);
  dog.spare(start + 11s);
  CHECK(dog.expired(start + 15s) == Act::none);
  CHECK(dog.deadline() == start + 21s);
  CHECK(dog.expired(start + 21s) == Act::probe);
}

TEST_CASE(
    "the hard limit holds whatever answers: a GPU can hang in a step that lets /slots through",
    "[supervisor]") {
  Watchdog dog(limits);
  dog.expect(Expectation::generation, start);
  auto now = start;
  while (now < start + 59s) {
    now += 1s;
    const auto action = dog.expired(now);
    REQUIRE(action != Act::hung);
    if (action == Act::probe) dog.spare(now);
  }
  CHECK(dog.expired(start + 60s) == Act::hung);
}

TEST_CASE("progress starts all limits anew", "[supervisor]") {
  Watchdog dog(limits);
  dog.expect(Expectation::generation, start);
  REQUIRE(dog.expired(start + 10s) == Act::probe);
  dog.progress(start + 14s);
  CHECK(dog.expired(start + 16s) == Act::none);
  CHECK(dog.deadline() == start + 24s);
}

TEST_CASE("a long prompt has limits of its own", "[supervisor]") {
  Watchdog dog(limits);
  dog.expect(Expectation::prompt, start);
  CHECK(dog.deadline() == start + 30s);
  dog.expect(Expectation::generation, start + 29s);
  CHECK(dog.deadline() == start + 39s);
  dog.expect(Expectation::nothing, start + 30s);
  CHECK_FALSE(dog.deadline());
}

TEST_CASE("zero turns a limit off", "[supervisor]") {
  Watchdog off({.generation_soft = 0s, .generation_hard = 0s});
  off.expect(Expectation::generation, start);
  CHECK_FALSE(off.deadline());
  CHECK(off.expired(start + 24h) == Act::none);

  Watchdog no_probe({.generation_soft = 10s, .generation_hard = 60s, .probe = 0s});
  no_probe.expect(Expectation::generation, start);
  CHECK(no_probe.deadline() == start + 60s);
  CHECK(no_probe.expired(start + 11s) == Act::none);
  CHECK(no_probe.expired(start + 60s) == Act::hung);
}
