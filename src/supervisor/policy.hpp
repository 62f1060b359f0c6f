/// \file
/// What a supervisor may do when a server fails.
#pragma once

#include <llamavisor/load_options.hpp>

#include <chrono>
#include <vector>

namespace llamavisor::supervisor {

/// One step of the ladder, best first: a device with the engine that drives it.
struct Rung {
  bool on_gpu = false;
  bool quarantined = false;     ///< failed hard before: not tried again by itself
  bool can_be_smaller = false;  ///< its load can, and the caller allows it
};

struct Policy {
  Fallback fallback = Fallback::automatic;
  bool device_is_auto = false;  ///< nobody named a device: a load may end on any rung
  int same_rung_retries = 0;
  bool standby = false;
  std::chrono::milliseconds memory_return{0};  ///< as `Limits::memory_return`
  Recovery recovery{};
};

/// What the cause of a failure asks for.
struct Remedy {
  bool no_rung_helps = false;      ///< the model, or the arguments: every engine would refuse
  bool never_the_same = false;     ///< the same device with the same engine would fail again
  bool lacks_memory = false;       ///< a load may do when memory has come back
  bool quarantine_device = false;  ///< a second try has hung whole machines
};

/// From cause to remedy: the table of docs/failing-over.md.
Remedy remedy_for(Cause cause) noexcept;

}  // namespace llamavisor::supervisor
