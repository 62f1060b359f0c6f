/// \file
/// Jobs that wait, and jobs that run.
#pragma once

#include "supervisor/job.hpp"

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

namespace llamavisor::supervisor {

/// First come, first served, in two lanes: jobs that need a slot, and small questions. A small
/// question never waits behind a completion.
class JobQueue {
 public:
  explicit JobQueue(std::size_t max_waiting) : max_waiting_(max_waiting) {}

  /// False when too many wait already.
  bool push(std::shared_ptr<Job> job);

  /// The next job for which there is room, now counted as running; null when there is none.
  std::shared_ptr<Job> take(int slots);

  /// Forgets a job, wherever it is.
  void erase(const Job& job);

  /// Takes out those that run.
  std::vector<std::shared_ptr<Job>> drain_running();

  /// Takes out all of them, the running ones first.
  std::vector<std::shared_ptr<Job>> drain();

  const std::vector<std::shared_ptr<Job>>& running() const noexcept { return running_; }

 private:
  /// Questions at a time: a server answers them one after the other anyway.
  static constexpr std::size_t max_questions = 4;

  std::size_t max_waiting_;
  std::deque<std::shared_ptr<Job>> waiting_for_slot_, waiting_questions_;
  std::vector<std::shared_ptr<Job>> running_;
  std::size_t running_with_slot_ = 0;
};

}  // namespace llamavisor::supervisor
