#include "driven_life_cycle.hpp"

using namespace llamavisor;
using namespace llamavisor::supervisor;
using namespace std::chrono_literals;

namespace {

using Kind = Action::Kind;
using State = LifeCycle::State;

}  // namespace

TEST_CASE("a load answers when a real token came out, not before", "[supervisor]") {
  Driven driven(cpu_only);
  const auto loading = driven.load();
  CHECK(get(loading, Kind::spawn).generation == 1);
  CHECK_FALSE(has(loading, Kind::answer_load));
  const auto ready = driven.ready(1);
  CHECK(has(ready, Kind::serve));
  CHECK_FALSE(get(ready, Kind::answer_load).failure);
  CHECK(driven.life.as_model_state() == ModelState::ready);
}

TEST_CASE("the first death of a GPU process takes all requests to the CPU at once",
          "[supervisor]") {
  auto driven = serving(gpu_and_cpu);
  const auto died = driven.down(1);
  CHECK(get(died, Kind::take_back).generation == 1);
  CHECK(get(died, Kind::spawn).rung == 1);
  CHECK(driven.life.as_model_state() == ModelState::recovering);
  const auto ready = driven.ready(2);
  CHECK(get(ready, Kind::tell_fell_back).from_rung == 0);
  CHECK(get(ready, Kind::tell_fell_back).rung == 1);
  CHECK(get(ready, Kind::serve).generation == 2);
}

TEST_CASE("a device that hangs or is lost is quarantined, and never tried again by itself",
          "[supervisor]") {
  for (const auto cause : {Cause::hung, Cause::device_lost, Cause::invalid_device_function,
                           Cause::unsupported_gfx, Cause::crash_at_device_init}) {
    CAPTURE(name(cause));
    auto driven = serving(gpu_and_cpu, {.same_rung_retries = 3});
    const auto died = driven.down(1, cause);
    CHECK(get(died, Kind::quarantine).rung == 0);
    CHECK(get(died, Kind::spawn).rung == 1);
    CHECK_FALSE(has(driven.ready(2), Kind::arm));  // no promotion to it
  }
}

TEST_CASE("out of memory goes to the next rung, never to the same", "[supervisor]") {
  auto driven = serving(gpu_and_cpu, {.same_rung_retries = 3});
  CHECK(get(driven.down(1, Cause::out_of_memory), Kind::spawn).rung == 1);
  driven.ready(2);
  const auto last = driven.down(2, Cause::out_of_memory);
  CHECK_FALSE(has(last, Kind::spawn));
  CHECK(get(last, Kind::drop_all).failure->causes.size() == 2);
  CHECK(driven.life.as_model_state() == ModelState::failed);
}

TEST_CASE("a permanent error is one spawn and one typed error", "[supervisor]") {
  for (const auto cause :
       {Cause::bad_model, Cause::unknown_model_architecture, Cause::bad_argument}) {
    Driven driven(gpu_and_cpu, {.device_is_auto = true});
    driven.load();
    const auto died = driven.down(1, cause);
    CHECK_FALSE(has(died, Kind::spawn));
    CHECK(get(died, Kind::answer_load).failure->cause == cause);
  }
}

TEST_CASE("a load on a named device does not end up on the CPU", "[supervisor]") {
  Driven named(gpu_and_cpu);
  named.load();
  const auto died = named.down(1);
  CHECK_FALSE(has(died, Kind::spawn));
  CHECK(get(died, Kind::answer_load).failure);

  for (const Policy& policy :
       {Policy{.device_is_auto = true}, Policy{.fallback = Fallback::to_cpu}}) {
    Driven falling(gpu_and_cpu, policy);
    falling.load();
    CHECK(get(falling.down(1), Kind::spawn).rung == 1);
    CHECK(has(falling.ready(2), Kind::tell_fell_back));
  }
}

TEST_CASE("policy never: a typed error and no second process", "[supervisor]") {
  auto driven = serving(gpu_and_cpu, {.fallback = Fallback::never});
  const auto died = driven.down(1);
  CHECK_FALSE(has(died, Kind::spawn));
  CHECK(get(died, Kind::drop_all).failure->code == errc::server_died);
  CHECK(driven.life.refusal().code == errc::not_ready);
  CHECK(get(driven.load(), Kind::spawn).generation == 2);  // reload() is the way out
}

TEST_CASE("on the last rung the same server is started again, within the budget", "[supervisor]") {
  auto driven = serving(cpu_only);
  CHECK(has(driven.down(1), Kind::spawn));  // the first at once
  driven.ready(2);
  std::vector<std::chrono::milliseconds> delays;
  int generation = 2;
  while (true) {
    const auto died = driven.down(generation);
    if (!has(died, Kind::arm)) {
      CHECK(get(died, Kind::drop_all).failure->causes.size() == 6);
      break;
    }
    delays.push_back(get(died, Kind::arm).delay);
    generation = get(driven.life.alarm(Alarm::restart, driven.now), Kind::spawn).generation;
    driven.ready(generation);
  }
  CHECK(delays == std::vector<std::chrono::milliseconds>{100ms, 200ms, 400ms, 800ms});
}

TEST_CASE("a generation that served a request and lived two seconds clears the budget",
          "[supervisor]") {
  auto driven = serving(cpu_only, {.recovery = {.restarts = 1}});
  for (int generation = 1; generation < 20; ++generation) {
    driven.life.served(generation);
    driven.now += 2s;
    const auto died = driven.down(generation);
    REQUIRE(has(died, Kind::spawn));
    driven.ready(generation + 1);
  }
  driven.now += 1s;  // the last one lived too short, and served nobody
  CHECK(has(driven.down(20), Kind::drop_all));
}

TEST_CASE("a standby takes over without a load", "[supervisor]") {
  Driven driven(gpu_and_cpu, {.standby = true});
  driven.load();
  const auto ready = driven.ready(1);
  CHECK(get(ready, Kind::spawn).rung == 1);
  driven.ready(2);
  const auto died = driven.down(1);
  CHECK_FALSE(has(died, Kind::spawn));
  CHECK(get(died, Kind::serve).generation == 2);
  CHECK(has(died, Kind::tell_fell_back));
}

TEST_CASE("a better rung is tried after the cool-down, and takes over only when it is ready",
          "[supervisor]") {
  auto driven = serving(gpu_and_cpu);
  driven.down(1);
  CHECK(get(driven.ready(2), Kind::arm).alarm == Alarm::promotion);
  CHECK(get(driven.life.alarm(Alarm::promotion, driven.now), Kind::spawn).rung == 0);
  CHECK(driven.life.serving_generation() == 2);
  const auto promoted = driven.ready(3);
  CHECK(get(promoted, Kind::serve).generation == 3);
  CHECK(get(promoted, Kind::tell_promoted).from_rung == 1);
  CHECK(get(promoted, Kind::drain).generation == 2);
  CHECK_FALSE(has(promoted, Kind::stop));  // what runs there is not cut off
  CHECK(get(driven.life.drained(2), Kind::stop).generation == 2);
}

TEST_CASE("a failed promotion is invisible, and the next one waits twice as long", "[supervisor]") {
  auto driven = serving(gpu_and_cpu);
  driven.down(1);
  const auto first = get(driven.ready(2), Kind::arm).delay;
  driven.life.alarm(Alarm::promotion, driven.now);
  const auto failed = driven.down(3);
  CHECK(driven.life.serving_generation() == 2);
  CHECK(get(failed, Kind::arm).delay == 2 * first);
}

TEST_CASE("our own stop is never a crash, in any state", "[supervisor]") {
  Driven loading(cpu_only);
  loading.load();
  CHECK(has(loading.life.close(loading.now), Kind::stop));
  CHECK_FALSE(has(loading.ready(1), Kind::serve));  // it came too late
  const auto stopped = loading.down(1);
  CHECK_FALSE(has(stopped, Kind::tell_crashed));
  CHECK(has(stopped, Kind::answer_close));

  auto ready = serving(cpu_only);
  ready.life.close(ready.now);
  CHECK(has(ready.stopped(1), Kind::answer_close));
  CHECK(ready.life.refusal().code == errc::closed);
}

TEST_CASE("close during a recovery leaves nothing and brings nothing back", "[supervisor]") {
  auto driven = serving(gpu_and_cpu);
  driven.down(1);
  CHECK(has(driven.life.close(driven.now), Kind::disarm_all));
  CHECK(has(driven.stopped(2), Kind::answer_close));
  CHECK(driven.life.alarm(Alarm::restart, driven.now).empty());
  CHECK(get(driven.load(), Kind::answer_load).failure->code == errc::closed);
}

TEST_CASE("a reload stops the old server before it starts the new one", "[supervisor]") {
  auto driven = serving(cpu_only);
  const auto reload = driven.load();
  CHECK(has(reload, Kind::stop));
  CHECK(get(reload, Kind::drop_running).failure->code == errc::server_died);
  CHECK_FALSE(has(reload, Kind::spawn));
  CHECK(get(driven.stopped(1), Kind::spawn).generation == 2);
}

TEST_CASE("an abandoned load ends as cancelled", "[supervisor]") {
  Driven driven(cpu_only);
  driven.load();
  CHECK(has(driven.life.abandon_load(driven.now), Kind::stop));
  CHECK(get(driven.stopped(1), Kind::answer_load).failure->code == errc::cancelled);
  CHECK(driven.life.as_model_state() == ModelState::failed);
}

TEST_CASE("a model whose every device is quarantined is a typed error without a spawn",
          "[supervisor]") {
  Driven driven({{.on_gpu = true, .quarantined = true}});
  const auto actions = driven.load();
  CHECK_FALSE(has(actions, Kind::spawn));
  CHECK(get(actions, Kind::answer_load).failure->code == errc::device_quarantined);
}

TEST_CASE("every cause has one remedy", "[supervisor]") {
  CHECK(remedy_for(Cause::bad_model).no_rung_helps);
  CHECK(remedy_for(Cause::hung).quarantine_device);
  CHECK(remedy_for(Cause::missing_library).never_the_same);
  const auto crash = remedy_for(Cause::unknown);
  CHECK_FALSE((crash.no_rung_helps || crash.quarantine_device || crash.never_the_same));
}
