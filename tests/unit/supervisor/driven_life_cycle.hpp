// A life cycle with a clock, driven by hand.
#pragma once

#include "catch.hpp"
#include "supervisor/life_cycle.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace llamavisor::supervisor {

inline const std::vector<Rung> gpu_and_cpu{{.on_gpu = true}, {}};
inline const std::vector<Rung> cpu_only{{}};

inline Failure death(Cause cause = Cause::killed_from_outside) {
  return {.code = errc::server_died, .message = "it died", .cause = cause};
}

inline bool has(const Actions& actions, Action::Kind kind) {
  return std::any_of(actions.begin(), actions.end(),
                     [&](const Action& action) { return action.kind == kind; });
}

inline const Action& get(const Actions& actions, Action::Kind kind) {
  for (const auto& action : actions) {
    if (action.kind == kind) return action;
  }
  FAIL("no such action");
  return actions.front();
}

struct Driven {
  explicit Driven(std::vector<Rung> rungs, Policy policy = {}) : life(std::move(rungs), policy) {}

  Actions load() { return life.load(now); }
  Actions ready(int generation) { return life.became_ready(generation, now); }
  Actions down(int generation, Cause cause = Cause::killed_from_outside,
               std::optional<LifeCycle::Time> departure = {}) {
    return life.went_down(generation, death(cause), now, departure);
  }
  Actions stopped(int generation) { return life.went_down(generation, std::nullopt, now); }
  Actions alarm(Alarm which) { return life.alarm(which, now); }

  LifeCycle life;
  LifeCycle::Time now{};
};

inline Driven serving(std::vector<Rung> rungs, Policy policy = {}) {
  Driven driven(std::move(rungs), policy);
  driven.load();
  driven.ready(1);
  return driven;
}

}  // namespace llamavisor::supervisor
