/// \file
/// Stopping as data: which signal, and how long it may take. A sans-IO state machine.
#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

namespace llamavisor::process {

/// One step: the signals to send, one after the other, and how long to wait for the exit.
struct StopStep {
  std::vector<int> signals;
  bool whole_group = false;  ///< to the process group, not to the process alone
  std::chrono::milliseconds wait{0};
};

using StopPlan = std::vector<StopStep>;

/// SIGTERM, then SIGCONT (a stopped process takes no SIGTERM), the grace, SIGKILL to the group,
/// the reap limit.
StopPlan default_stop_plan(std::chrono::milliseconds grace, std::chrono::milliseconds reap);

/// | state    | start          | step expired              | exited  |
/// |----------|----------------|---------------------------|---------|
/// | idle     | first step     | -                         | done    |
/// | stopping | -              | next step, or `gave_up`   | done    |
/// | done     | -              | -                         | -       |
/// | gave_up  | -              | -                         | done    |
class StopSequence {
 public:
  struct Action {
    enum class Kind { none, run_step, done, give_up } kind = Kind::none;
    StopStep step;  ///< of `run_step`
  };

  explicit StopSequence(StopPlan plan);

  Action start();
  Action step_expired();
  Action exited();

  bool stopping() const noexcept;

 private:
  enum class State { idle, stopping, done, gave_up };
  Action run_next();

  StopPlan plan_;
  std::size_t next_ = 0;
  State state_ = State::idle;
};

}  // namespace llamavisor::process
