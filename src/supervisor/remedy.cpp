#include "supervisor/policy.hpp"

namespace llamavisor::supervisor {

Remedy remedy_for(Cause cause) noexcept {
  switch (cause) {
    case Cause::bad_model:
    case Cause::unknown_model_architecture:
    case Cause::unfit_adapter:
    case Cause::bad_argument: return {.no_rung_helps = true};
    case Cause::unsupported_gfx:
    case Cause::device_lost:
    case Cause::invalid_device_function:
    case Cause::crash_at_device_init:
    case Cause::hung: return {.quarantine_device = true};
    case Cause::out_of_memory: return {.never_the_same = true, .lacks_memory = true};
    case Cause::unknown_device:
    case Cause::missing_library:
    case Cause::damaged_library:
    case Cause::wrong_architecture:
    case Cause::illegal_instruction: return {.never_the_same = true};
    case Cause::none:
    case Cause::unknown:
    case Cause::address_in_use:
    case Cause::killed_from_outside: return {};
  }
  return {};
}

}  // namespace llamavisor::supervisor
