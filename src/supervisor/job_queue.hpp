/// \file
/// Jobs that wait, and jobs that run.
#pragma once

#include "supervisor/job.hpp"

#include <cstddef>
#include <deque>
#include <memory>
#include <vector>

namespace llamavisor::supervisor {

/// First come, first served, in two lanes: jobs that need a slot, and small questions. A small
/// question never waits behind a completion.
class JobQueue {
 public:
  struct Running {
    std::shared_ptr<Job> job;
    int generation = 0;
  };

  explicit JobQueue(std::size_t max_waiting) : max_waiting_(max_waiting) {}

  /// False when too many wait already.
  bool push(std::shared_ptr<Job> job);

  /// The next job for which this generation has room, now counted as running there; null when
  /// there is none.
  std::shared_ptr<Job> take(int generation, int slots);

  /// Those that ran on a generation wait again, before all others and in their old order; they do
  /// not count against the bound.
  std::vector<std::shared_ptr<Job>> take_back(int generation);

  /// Forgets a job, wherever it is.
  void erase(const Job& job);

  /// Takes out those that run.
  std::vector<std::shared_ptr<Job>> drain_running();

  /// Takes out all of them, the running ones first.
  std::vector<std::shared_ptr<Job>> drain();

  const std::vector<Running>& running() const noexcept { return running_; }

  /// The generation that a job runs on; 0 when it does not run.
  int generation_of(const Job& job) const noexcept;

  bool any_on(int generation) const noexcept;

 private:
  using Lane = std::deque<std::shared_ptr<Job>>;

  /// Questions at a time: a server answers them one after the other anyway.
  static constexpr std::size_t max_questions = 4;

  std::shared_ptr<Job> start_first(Lane& lane, int generation);
  std::size_t count(int generation, bool with_slot) const noexcept;

  std::size_t max_waiting_;
  Lane waiting_for_slot_, waiting_questions_;
  std::vector<Running> running_;
};

}  // namespace llamavisor::supervisor
