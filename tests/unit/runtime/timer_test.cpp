#include "runtime/timer.hpp"

#include "threads.hpp"

#include <catch.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace llamavisor {
namespace {

using namespace std::chrono_literals;
using testing::get;
using testing::on_runtime;

// Timers live and die on the runtime thread; the fixture's are gone before their runtime is.
struct Fixture {
  std::shared_ptr<Runtime> runtime = std::make_shared<Runtime>();

  template <typename Task>
  void run(Task task) {
    on_runtime(*runtime, task);
  }
};

TEST_CASE("a timer calls back once, on the runtime thread, never from within arm") {
  Fixture fixture;
  std::optional<Timer> timer;
  int calls = 0;
  bool within = true, there = false;
  std::promise<void> called;
  fixture.run([&] {
    timer.emplace(*fixture.runtime);
    timer->arm(0ms, [&] {
      ++calls;
      there = fixture.runtime->on_runtime_thread();
      called.set_value();
    });
    within = calls > 0;
  });
  get(called.get_future());
  fixture.run([&] { timer.reset(); });
  CHECK(calls == 1);
  CHECK(there);
  CHECK_FALSE(within);
}

TEST_CASE("a call-back that is due already does not come after cancel or destruction") {
  Fixture fixture;
  std::optional<Timer> first, second, third;
  int late = 0;
  std::promise<void> called;
  fixture.run([&] {
    for (auto* timer : {&first, &second, &third})
      timer->emplace(*fixture.runtime);
    // All are due in the same turn: when the first calls back, the others can no longer be
    // withdrawn from the loop.
    first->arm(-1ms, [&] {
      second->cancel();
      third.reset();
      called.set_value();
    });
    second->arm(0ms, [&] { ++late; });
    third->arm(0ms, [&] { ++late; });
  });
  get(called.get_future());
  fixture.run([] {});
  fixture.run([&] {
    first.reset();
    second.reset();
  });
  CHECK(late == 0);
}

TEST_CASE("arming again drops the former call-back, also one that is due") {
  Fixture fixture;
  std::optional<Timer> first, second;
  std::vector<int> calls;
  std::promise<void> called;
  fixture.run([&] {
    first.emplace(*fixture.runtime);
    second.emplace(*fixture.runtime);
    first->arm(-1ms, [&] {
      second->arm(0ms, [&] {
        calls.push_back(2);
        called.set_value();
      });
    });
    second->arm(0ms, [&] { calls.push_back(1); });
  });
  get(called.get_future());
  fixture.run([&] {
    first.reset();
    second.reset();
  });
  CHECK(calls == std::vector<int>{2});
}

TEST_CASE("a call-back may arm its own timer again") {
  Fixture fixture;
  std::optional<Timer> timer;
  int calls = 0;
  std::promise<void> done;
  std::function<void()> again = [&] {
    if (++calls == 3) return done.set_value();
    timer->arm(0ms, again);
  };
  fixture.run([&] {
    timer.emplace(*fixture.runtime);
    timer->arm(0ms, again);
  });
  get(done.get_future());
  fixture.run([&] { timer.reset(); });
  CHECK(calls == 3);
}

TEST_CASE("a call-back may destroy its own timer") {
  Fixture fixture;
  auto timer = std::make_shared<std::optional<Timer>>();
  std::promise<void> done;
  fixture.run([&] {
    timer->emplace(*fixture.runtime);
    (*timer)->arm(0ms, [timer, &done] {
      timer->reset();
      done.set_value();
    });
  });
  get(done.get_future());
  fixture.run([] {});
  CHECK_FALSE(timer->has_value());
}

TEST_CASE("a call-back that owns its timer goes with it when it is cancelled") {
  Fixture fixture;
  std::weak_ptr<std::optional<Timer>> watched;
  fixture.run([&] {
    auto timer = std::make_shared<std::optional<Timer>>();
    watched = timer;
    timer->emplace(*fixture.runtime);
    (*timer)->arm(1h, [timer] {});
    auto* raw = timer.get();
    timer.reset();
    (*raw)->cancel();
  });
  CHECK(watched.expired());
}

TEST_CASE("a pending timer does not hold up the end of the runtime") {
  auto runtime = std::make_shared<Runtime>();
  std::optional<Timer> timer;
  bool called = false;
  on_runtime(*runtime, [&] {
    timer.emplace(*runtime);
    timer->arm(1h, [&] { called = true; });
  });
  on_runtime(*runtime, [&] { timer.reset(); });
  runtime.reset();
  CHECK_FALSE(called);
}

TEST_CASE("a timer that was moved keeps its call-back, and the former one of its new place goes") {
  Fixture fixture;
  std::optional<Timer> place;
  std::vector<int> calls;
  std::promise<void> done;
  fixture.run([&] {
    place.emplace(*fixture.runtime);
    place->arm(0ms, [&] { calls.push_back(1); });
    Timer other(*fixture.runtime);
    other.arm(0ms, [&] {
      calls.push_back(2);
      done.set_value();
    });
    *place = std::move(other);
  });
  get(done.get_future());
  fixture.run([&] { place.reset(); });
  CHECK(calls == std::vector<int>{2});
}

}  // namespace
}  // namespace llamavisor
