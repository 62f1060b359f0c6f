/// \file
/// What the supervisor reports while a model lives.
#pragma once

#include <llamavisor/callback.hpp>
#include <llamavisor/error.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace llamavisor {

/// One report. A plain value.
struct Event {
  enum class Kind {
    started,        ///< a server process was spawned
    loading,        ///< it is loading: `message` names the step, `fraction` where the log gives one
    ready,          ///< a real token came out of it
    crashed,        ///< it ended or hung without being asked; `failure` says why
    restarting,     ///< the same rung of the ladder is started again
    fell_back,      ///< requests go on on another rung: `from`, `to`, `failure`
    quarantined,    ///< a device will not be tried again by itself
    promoted,       ///< requests go back to a better rung: `from`, `to`
    failed,         ///< the model has failed for good; `reload()` is the way out
    stopped,        ///< the process has ended because we asked it to
    unreaped,       ///< the process was killed, but the kernel keeps it
    no_cpu_engine,  ///< there is no CPU engine to fall back to; `message` names the command
    warning         ///< worth a line in a log; `message` says what
  };

  Kind kind = Kind::warning;
  int generation = 0;                ///< counts the server processes of this model, from 1
  std::string device{};              ///< "cpu", "vulkan:0", ...
  std::string message{};             ///< one line for a person
  std::optional<double> fraction{};  ///< 0 to 1, of a load
  std::string from{}, to{};          ///< devices, of `fell_back` and `promoted`
  std::optional<Failure> failure{};
  std::chrono::system_clock::time_point time{};
};

/// "fell_back", "ready", ... Never throws.
std::string_view name(Event::Kind kind) noexcept;

/// Called for each event, in order, never two at once for one model, on llamavisor's own event
/// thread: never on the thread that supervises, so a slow handler delays later events and nothing
/// else. It may use the model, but not wait for a later event. None comes after `close()` has
/// returned (which waits for those on their way) or after a load has thrown; only `close()` called
/// by a handler itself does not wait. What a handler throws is swallowed.
using EventHandler = Callback<void(const Event&)>;

}  // namespace llamavisor
