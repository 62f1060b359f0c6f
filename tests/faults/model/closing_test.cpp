// Models are closed: in time, for good, and without a trace.
#include "fake_world.hpp"

#include <boost/json.hpp>

#include <signal.h>

#include <atomic>
#include <catch.hpp>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace llamavisor::faults {
namespace {

using namespace std::chrono_literals;
using Kind = Event::Kind;

/// Closes; within the grace and a second is the promise, ten times that the guard.
void closes(const TextModel& model, std::chrono::milliseconds grace) {
  const auto before = std::chrono::steady_clock::now();
  model.close();
  CHECK(std::chrono::steady_clock::now() - before < 10 * (grace + 1s));
  CHECK(own_children() == 0);
  CHECK(model.state() == ModelState::closed);
}

TEST_CASE("close ends a polite, a deaf, a frozen and a double-forked server") {
  for (const std::string script :
       {"", "ignore_term", "double_fork", "double_fork=exit", "keep_pipes"}) {
    INFO("script: " << script);
    const FakeWorld world(script);
    auto options = world.cpu();
    options.limits = short_limits();
    std::optional<TextModel> model;
    if (script == "double_fork=exit") {
      // The process that we know is gone at once: that is an end, and its grandchild ends with it.
      CHECK(thrown_by([&] { world.load(options); }).phase == Phase::load);
    } else {
      model = world.load(options);
      closes(*model, options.limits.stop_grace);
      CHECK(world.log().wait_for(Kind::stopped).generation == 1);
      CHECK(world.log().count(Kind::crashed) == 0);
    }
    for (const char* member : {"start", "serving", "pipe_keeper"}) {
      for (const auto& process : world.story().events(member))
        wait_until_ended(process.at("pid").to_number<pid_t>());
    }
  }
}

TEST_CASE("a polite server gets one SIGTERM and ends by itself, a stopped one is woken first") {
  const FakeWorld world("");
  const auto model = world.load(world.cpu());
  ::kill(own_server(), SIGSTOP);
  closes(model, world.cpu().limits.stop_grace);
  CHECK(world.story().events("term").size() == 1);
  CHECK(world.story().events("exit").size() == 1);
}

TEST_CASE("close in a very long prefill ends within the grace, by force") {
  const FakeWorld world("skip=1 ignore_term prompt_batch=1 prompt_delay_ms=50");
  auto options = world.cpu();
  options.limits.stop_grace = 200ms;
  const auto model = world.load(options);
  auto stream = model.generate(std::string(2000, 'x'), greedy(1));
  testing::wait_until([&] { return world.story().completions().size() == 2; });
  closes(model, options.limits.stop_grace);
  CHECK(stream.result().failure->code == errc::closed);
  CHECK(world.story().events("exit").empty());
}

TEST_CASE("cycles of load and close, failed ones too, leave no process and no descriptor") {
  leave_the_users_state_alone();
  const auto descriptors = open_descriptors();
  for (int round = 0; round < rounds(50, 1000); ++round) {
    const bool fails = round % 7 == 3;
    const bool dies = round % 7 == 5;
    const FakeWorld world(fails  ? "die=loading:exit:1"
                          : dies ? "skip=1 cpu1:die=token:3:signal:KILL"
                                 : "");
    if (fails) {
      CHECK(thrown_by([&] { world.load(world.cpu()); }).code == errc::load_failed);
      continue;
    }
    const auto model = world.load(world.cpu());
    CHECK(model.generate("Hello", greedy(5)).result_or_throw().generated_tokens == 5);
    if (round % 2 == 0) model.close();
  }
  CHECK(own_children() == 0);
  wait_until("the descriptors are closed", [&] { return open_descriptors() == descriptors; });
}

TEST_CASE("calls of all kinds race from many threads, and nobody is stranded") {
  for (int round = 0; round < rounds(20, 200); ++round) {
    const FakeWorld world("skip=1 token_delay_us=200 g1:die=token:40:signal:KILL");
    auto options = world.gpu();
    options.recovery.restarts = 50;
    options.max_waiting = 8;
    const auto model = world.load(options);
    std::atomic<int> ended{0};
    std::vector<std::thread> threads;
    const auto generate = [&](unsigned seed) {
      std::mt19937 random(seed);
      for (int request = 0; request < 12; ++request) {
        auto stream = model.generate("Hello " + std::to_string(seed), greedy(60));
        if (random() % 3 == 0) read_tokens(stream, static_cast<int>(random() % 20));
        if (random() % 3 == 0) stream.cancel();
        if (random() % 4 == 0) continue;
        stream.result();
        ++ended;
      }
    };
    for (unsigned thread = 0; thread < 4; ++thread)
      threads.emplace_back(generate, static_cast<unsigned>(round) * 100 + thread);
    threads.emplace_back([&] {
      for (int question = 0; question < 20; ++question) {
        try {
          model.tokenize("abc");
          model.classify("abc", 3);
          model.metrics();
        } catch (const Error& error) {
          if (error.code() == errc::internal) std::abort();
        }
        static_cast<void>(model.info());
        static_cast<void>(model.state());
      }
    });
    threads.emplace_back([&] {
      try {
        if (round % 2 == 0) model.reload();
      } catch (const Error&) {
      }
      wait_until("some have ended", [&] { return ended >= 6; });
      model.close();
    });
    for (auto& thread : threads)
      thread.join();
    CHECK(model.state() == ModelState::closed);
    CHECK(own_children() == 0);
  }
}

}  // namespace
}  // namespace llamavisor::faults
