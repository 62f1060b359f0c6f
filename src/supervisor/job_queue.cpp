#include "supervisor/job_queue.hpp"

#include <algorithm>
#include <utility>

namespace llamavisor::supervisor {

bool JobQueue::push(std::shared_ptr<Job> job) {
  auto& lane = job->needs_slot() ? waiting_for_slot_ : waiting_questions_;
  if (lane.size() >= max_waiting_) return false;
  lane.push_back(std::move(job));
  return true;
}

std::size_t JobQueue::count(int generation, bool with_slot) const noexcept {
  return static_cast<std::size_t>(
      std::count_if(running_.begin(), running_.end(), [&](const Running& entry) {
        return entry.generation == generation && entry.job->needs_slot() == with_slot;
      }));
}

std::shared_ptr<Job> JobQueue::start_first(Lane& lane, int generation) {
  auto job = std::move(lane.front());
  lane.pop_front();
  running_.push_back({job, generation});
  return job;
}

std::shared_ptr<Job> JobQueue::take(int generation, int slots) {
  if (!waiting_questions_.empty() && count(generation, false) < max_questions) {
    return start_first(waiting_questions_, generation);
  }
  if (!waiting_for_slot_.empty() && count(generation, true) < static_cast<std::size_t>(slots)) {
    return start_first(waiting_for_slot_, generation);
  }
  return nullptr;
}

std::vector<std::shared_ptr<Job>> JobQueue::take_back(int generation) {
  std::vector<std::shared_ptr<Job>> back;
  for (const auto& entry : running_) {
    if (entry.generation == generation) back.push_back(entry.job);
  }
  std::erase_if(running_, [&](const Running& entry) { return entry.generation == generation; });
  std::for_each(back.rbegin(), back.rend(), [this](const std::shared_ptr<Job>& job) {
    (job->needs_slot() ? waiting_for_slot_ : waiting_questions_).push_front(job);
  });
  return back;
}

void JobQueue::erase(const Job& job) {
  const auto is_it = [&](const std::shared_ptr<Job>& entry) { return entry.get() == &job; };
  std::erase_if(running_, [&](const Running& entry) { return is_it(entry.job); });
  std::erase_if(waiting_for_slot_, is_it);
  std::erase_if(waiting_questions_, is_it);
}

std::vector<std::shared_ptr<Job>> JobQueue::drain_running() {
  std::vector<std::shared_ptr<Job>> jobs;
  for (auto& entry : std::exchange(running_, {}))
    jobs.push_back(std::move(entry.job));
  return jobs;
}

std::vector<std::shared_ptr<Job>> JobQueue::drain() {
  auto all = drain_running();
  all.insert(all.end(), waiting_questions_.begin(), waiting_questions_.end());
  all.insert(all.end(), waiting_for_slot_.begin(), waiting_for_slot_.end());
  waiting_questions_.clear();
  waiting_for_slot_.clear();
  return all;
}

int JobQueue::generation_of(const Job& job) const noexcept {
  for (const auto& entry : running_) {
    if (entry.job.get() == &job) return entry.generation;
  }
  return 0;
}

bool JobQueue::any_on(int generation) const noexcept {
  return std::any_of(running_.begin(), running_.end(),
                     [&](const Running& entry) { return entry.generation == generation; });
}

}  // namespace llamavisor::supervisor
