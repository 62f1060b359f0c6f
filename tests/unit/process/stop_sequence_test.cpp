#include "process/stop_sequence.hpp"

#include <catch.hpp>
#include <chrono>
#include <csignal>
#include <random>
#include <vector>

namespace llamavisor::process {
namespace {

using namespace std::chrono_literals;
using Kind = StopSequence::Action::Kind;

TEST_CASE("a stop asks first, wakes a stopped process, and kills the group after the grace") {
  StopSequence sequence(default_stop_plan(5s, 2s));
  CHECK_FALSE(sequence.stopping());

  const auto ask = sequence.start();
  REQUIRE(ask.kind == Kind::run_step);
  CHECK(ask.step.signals == std::vector<int>{SIGTERM, SIGCONT});
  CHECK_FALSE(ask.step.whole_group);
  CHECK(ask.step.wait == 5s);
  CHECK(sequence.stopping());

  const auto kill = sequence.step_expired();
  REQUIRE(kill.kind == Kind::run_step);
  CHECK(kill.step.signals == std::vector<int>{SIGKILL});
  CHECK(kill.step.whole_group);
  CHECK(kill.step.wait == 2s);

  CHECK(sequence.step_expired().kind == Kind::give_up);
}

TEST_CASE("an exit ends a stop in every state, and is told once") {
  for (int expired = 0; expired <= 2; ++expired) {
    CAPTURE(expired);
    StopSequence sequence(default_stop_plan(1s, 1s));
    static_cast<void>(sequence.start());
    for (int step = 0; step < expired; ++step)
      static_cast<void>(sequence.step_expired());
    CHECK(sequence.exited().kind == Kind::done);
    CHECK(sequence.exited().kind == Kind::none);
    CHECK_FALSE(sequence.stopping());
  }
}

TEST_CASE("an exit before any stop leaves nothing to do") {
  StopSequence sequence(default_stop_plan(1s, 1s));
  CHECK(sequence.exited().kind == Kind::done);
  CHECK(sequence.start().kind == Kind::none);
}

TEST_CASE("a second start sends no second TERM") {
  StopSequence sequence(default_stop_plan(1s, 1s));
  static_cast<void>(sequence.start());
  CHECK(sequence.start().kind == Kind::none);
  static_cast<void>(sequence.step_expired());
  CHECK(sequence.start().kind == Kind::none);
}

TEST_CASE("a step that expires before the start, or after giving up, does nothing") {
  StopSequence sequence(default_stop_plan(1s, 1s));
  CHECK(sequence.step_expired().kind == Kind::none);
  static_cast<void>(sequence.start());
  static_cast<void>(sequence.step_expired());
  REQUIRE(sequence.step_expired().kind == Kind::give_up);
  CHECK(sequence.step_expired().kind == Kind::none);
  CHECK(sequence.stopping());
}

TEST_CASE("a plan without steps gives up at once") {
  StopSequence sequence(StopPlan{});
  CHECK(sequence.start().kind == Kind::give_up);
}

TEST_CASE("whatever comes in whatever order, each step runs once and nothing follows the end") {
  std::mt19937 random(20260806);
  for (int round = 0; round < 2000; ++round) {
    CAPTURE(round);
    const std::size_t steps = random() % 4;
    StopSequence sequence(StopPlan(steps, StopStep{.signals = {SIGTERM}, .wait = 1ms}));
    std::size_t run = 0, given_up = 0, done = 0;
    for (int event = 0; event < 12; ++event) {
      StopSequence::Action action;
      switch (random() % 3) {
        case 0: action = sequence.start(); break;
        case 1: action = sequence.step_expired(); break;
        default:
          if (random() % 3 != 0) continue;
          action = sequence.exited();
      }
      if (done > 0) REQUIRE(action.kind == Kind::none);
      run += action.kind == Kind::run_step ? 1 : 0;
      given_up += action.kind == Kind::give_up ? 1 : 0;
      done += action.kind == Kind::done ? 1 : 0;
      if (action.kind == Kind::give_up) REQUIRE(run == steps);
    }
    REQUIRE(run <= steps);
    REQUIRE(given_up <= 1);
    REQUIRE(done <= 1);
  }
}

}  // namespace
}  // namespace llamavisor::process
