// Loads that run out of memory.
#include "driven_life_cycle.hpp"

using namespace llamavisor;
using namespace llamavisor::supervisor;
using namespace std::chrono_literals;

namespace {

using Kind = Action::Kind;

constexpr auto no_memory = Cause::out_of_memory;

const Policy waiting{.memory_return = 5s};

}  // namespace

TEST_CASE("memory that comes back late is waited for, on the same device", "[supervisor]") {
  Driven driven(gpu_and_cpu, waiting);
  const auto departure = driven.now;
  driven.load();
  for (int generation = 1; generation <= 3; ++generation) {
    driven.now += 100ms;
    const auto died = driven.down(generation, no_memory, departure);
    CHECK(get(died, Kind::tell_waiting).rung == 0);
    CHECK_FALSE(has(died, Kind::answer_load));
    CHECK_FALSE(has(died, Kind::quarantine));
    driven.now += get(died, Kind::arm).delay;
    CHECK(driven.life.as_model_state() == ModelState::loading);
    CHECK(get(driven.alarm(Alarm::restart), Kind::spawn).rung == 0);
  }
  const auto ready = driven.ready(4);
  CHECK_FALSE(get(ready, Kind::answer_load).failure);
  CHECK_FALSE(has(ready, Kind::tell_fell_back));
}

TEST_CASE("once the limit has passed, a lack of memory is what it is", "[supervisor]") {
  Driven named(gpu_and_cpu, waiting);
  const auto departure = named.now;
  named.now += 5s;
  named.load();
  const auto died = named.down(1, no_memory, departure);
  CHECK_FALSE(has(died, Kind::tell_waiting));
  CHECK(get(died, Kind::answer_load).failure->cause == no_memory);
  CHECK(get(died, Kind::answer_load).failure->causes.empty());  // the tries before are no causes

  auto policy = waiting;
  policy.device_is_auto = true;
  Driven falling(gpu_and_cpu, policy);
  falling.now = named.now;
  falling.load();
  CHECK(get(falling.down(1, no_memory, departure), Kind::spawn).rung == 1);
}

TEST_CASE("waiting for memory takes nothing from the restart budget", "[supervisor]") {
  auto policy = waiting;
  policy.same_rung_retries = 1;
  policy.recovery.restarts = 1;
  auto driven = serving(gpu_and_cpu, policy);
  const auto departure = driven.now;
  REQUIRE(get(driven.down(1), Kind::spawn).rung == 0);  // takes the whole budget
  for (int generation = 2; generation <= 4; ++generation) {
    const auto died = driven.down(generation, no_memory, departure);
    driven.now += get(died, Kind::arm).delay;
    CHECK(driven.life.as_model_state() == ModelState::recovering);
    CHECK(get(driven.alarm(Alarm::restart), Kind::spawn).rung == 0);
  }
  CHECK(get(driven.ready(5), Kind::serve).generation == 5);
}

TEST_CASE("nobody waits for memory while a warm standby can serve", "[supervisor]") {
  auto policy = waiting;
  policy.same_rung_retries = 1;
  policy.standby = true;
  auto driven = serving(gpu_and_cpu, policy);
  driven.ready(2);
  const auto departure = driven.now;
  REQUIRE(get(driven.down(1), Kind::spawn).generation == 3);
  CHECK(get(driven.down(3, no_memory, departure), Kind::serve).generation == 2);
}

TEST_CASE("a promotion that finds too little memory is tried again soon, its cool-down unchanged",
          "[supervisor]") {
  auto driven = serving(gpu_and_cpu, waiting);
  driven.down(1);
  const auto cool_down = get(driven.ready(2), Kind::arm).delay;
  driven.alarm(Alarm::promotion);
  const auto died = driven.down(3, no_memory, driven.now);  // another model has just left
  CHECK(get(died, Kind::arm).alarm == Alarm::promotion);
  CHECK(get(died, Kind::arm).delay == 100ms);
  CHECK(get(driven.alarm(Alarm::promotion), Kind::spawn).rung == 0);
  CHECK(get(driven.down(4), Kind::arm).delay == 2 * cool_down);
}

TEST_CASE("the memory of the CPU, and of a server that was ready, is not waited for",
          "[supervisor]") {
  Driven cpu(cpu_only, waiting);
  cpu.load();
  CHECK(get(cpu.down(1, no_memory, cpu.now), Kind::answer_load).failure);

  auto ready = serving(gpu_and_cpu, waiting);
  CHECK(get(ready.down(1, no_memory, ready.now), Kind::spawn).rung == 1);
}

TEST_CASE("policy never: a load waits for memory all the same, and starts nothing else",
          "[supervisor]") {
  auto policy = waiting;
  policy.fallback = Fallback::never;
  Driven driven(gpu_and_cpu, policy);
  driven.load();
  const auto died = driven.down(1, no_memory, driven.now);
  CHECK(has(died, Kind::tell_waiting));
  CHECK(get(driven.alarm(Alarm::restart), Kind::spawn).rung == 0);
  driven.now += 6s;
  CHECK(get(driven.life.went_down(2, death(no_memory), driven.now, driven.now - 6s),
            Kind::tell_waiting)
            .delay == 0ms);
  driven.alarm(Alarm::restart);
  CHECK(get(driven.down(3, no_memory, driven.now - 6s), Kind::answer_load).failure);
}

TEST_CASE("close and a cancelled load end the wait for memory", "[supervisor]") {
  Driven closed(gpu_and_cpu, waiting);
  closed.load();
  closed.down(1, no_memory, closed.now);
  CHECK(has(closed.life.close(closed.now), Kind::answer_close));
  CHECK(closed.alarm(Alarm::restart).empty());

  Driven cancelled(gpu_and_cpu, waiting);
  cancelled.load();
  cancelled.down(1, no_memory, cancelled.now);
  const auto abandoned = cancelled.life.abandon_load(cancelled.now);
  CHECK(get(abandoned, Kind::answer_load).failure->code == errc::cancelled);
  CHECK(cancelled.alarm(Alarm::restart).empty());
}

TEST_CASE("a load that may be made smaller is, once on each rung, before the next rung",
          "[supervisor]") {
  Driven driven({{.on_gpu = true, .can_be_smaller = true}, {.can_be_smaller = true}},
                {.device_is_auto = true});
  CHECK(has(driven.load(), Kind::begin_load));
  for (int generation = 1; generation <= 3; ++generation) {
    const auto died = driven.down(generation, no_memory);
    CHECK(has(died, Kind::make_smaller) == (generation != 2));
    CHECK(get(died, Kind::spawn).rung == (generation == 1 ? 0U : 1U));
  }
  const auto failed = driven.down(4, no_memory);
  CHECK_FALSE(has(failed, Kind::make_smaller));
  CHECK(get(failed, Kind::answer_load).failure->causes.size() == 4);

  CHECK(has(driven.load(), Kind::begin_load));  // a new load: everything is as it was asked for
  CHECK(get(driven.down(5, no_memory), Kind::make_smaller).rung == 0);
}

TEST_CASE("memory is waited for before a load is made smaller", "[supervisor]") {
  Driven driven({{.on_gpu = true, .can_be_smaller = true}}, waiting);
  driven.load();
  const auto departure = driven.now;
  const auto died = driven.down(1, no_memory, departure);
  CHECK(has(died, Kind::tell_waiting));
  CHECK_FALSE(has(died, Kind::make_smaller));
  driven.now += 5s;
  driven.alarm(Alarm::restart);
  CHECK(has(driven.down(2, no_memory, departure), Kind::make_smaller));
}

TEST_CASE("only a load that lacked memory is made smaller", "[supervisor]") {
  const std::vector<Rung> rungs{{.on_gpu = true, .can_be_smaller = true}, {}};
  Driven crashed(rungs, {.device_is_auto = true});
  crashed.load();
  CHECK_FALSE(has(crashed.down(1), Kind::make_smaller));

  auto ready = serving(rungs);
  const auto died = ready.down(1, no_memory);
  CHECK_FALSE(has(died, Kind::make_smaller));
  CHECK(get(died, Kind::spawn).rung == 1);
}

TEST_CASE("a candidate that lacks memory is not made smaller: its requests are served already",
          "[supervisor]") {
  auto driven = serving({{.on_gpu = true, .can_be_smaller = true}, {}});
  driven.down(1);
  driven.ready(2);
  driven.alarm(Alarm::promotion);
  CHECK_FALSE(has(driven.down(3, no_memory), Kind::make_smaller));
}
