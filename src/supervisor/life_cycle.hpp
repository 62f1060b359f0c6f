/// \file
/// The life of a supervised model. A sans-IO state machine.
#pragma once

#include <llamavisor/error.hpp>
#include <llamavisor/text_model.hpp>

#include <optional>
#include <vector>

namespace llamavisor::supervisor {

/// What the life cycle wants done, in order.
struct Action {
  enum class Kind {
    spawn,         ///< a new generation of the server
    stop,          ///< the current one
    serve,         ///< requests may run on the current generation
    drop_running,  ///< requests that run end with `failure`
    drop_all,      ///< those that wait as well
    answer_load,   ///< all callers of load and reload: well, or with `failure`
    answer_close   ///< all callers of close
  };
  Kind kind;
  std::optional<Failure> failure{};
};

using Actions = std::vector<Action>;

/// Desired and actual state are kept apart: `wanted_` is what the host asked for last.
///
/// | state    | load / reload     | abandon load      | ready | down                    | close |
/// |----------|-------------------|-------------------|-------|-------------------------|-----------|
/// | idle     | spawn → loading   | -                 | x     | x                       | closed |
/// | loading  | join              | stop → stopping   | ready | failed                  | stopping
/// | | ready    | stop → stopping   | -                 | x     | failed                  |
/// stopping  | | stopping | join, or refuse   | wanted: failed    | -     | loading, failed, closed
/// | join      | | failed   | spawn → loading   | -                 | x     | x | closed    | |
/// closed   | refuse            | -                 | x     | -                       | answered  |
///
/// "-" is ignored: it comes too late to matter. "x" cannot happen.
class LifeCycle {
 public:
  enum class State { idle, loading, ready, stopping, failed, closed };

  Actions load();
  Actions abandon_load();
  Actions became_ready();

  /// The current generation has ended; empty when we asked it to.
  Actions went_down(std::optional<Failure> failure);

  Actions close();

  State state() const noexcept { return state_; }

  /// Counts the server processes, from 1; 0 before the first.
  int generation() const noexcept { return generation_; }

  /// Why requests are refused in `failed` and `closed`.
  Failure refusal() const;

  ModelState as_model_state() const noexcept;

 private:
  enum class Wanted { running, failed, closed };

  Action spawn();
  Actions stop(Wanted wanted);

  State state_ = State::idle;
  Wanted wanted_ = Wanted::running;
  int generation_ = 0;
  std::optional<Failure> last_failure_;
};

}  // namespace llamavisor::supervisor
