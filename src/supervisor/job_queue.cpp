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

std::shared_ptr<Job> JobQueue::take(int slots) {
  const auto from = [this](auto& lane) {
    auto job = std::move(lane.front());
    lane.pop_front();
    running_.push_back(job);
    return job;
  };
  const auto questions = running_.size() - running_with_slot_;
  if (!waiting_questions_.empty() && questions < max_questions) return from(waiting_questions_);
  if (!waiting_for_slot_.empty() && running_with_slot_ < static_cast<std::size_t>(slots)) {
    ++running_with_slot_;
    return from(waiting_for_slot_);
  }
  return nullptr;
}

void JobQueue::erase(const Job& job) {
  const auto is_it = [&](const auto& entry) { return entry.get() == &job; };
  if (std::erase_if(running_, is_it) > 0 && job.needs_slot()) --running_with_slot_;
  std::erase_if(waiting_for_slot_, is_it);
  std::erase_if(waiting_questions_, is_it);
}

std::vector<std::shared_ptr<Job>> JobQueue::drain_running() {
  running_with_slot_ = 0;
  return std::exchange(running_, {});
}

std::vector<std::shared_ptr<Job>> JobQueue::drain() {
  auto all = drain_running();
  all.insert(all.end(), waiting_questions_.begin(), waiting_questions_.end());
  all.insert(all.end(), waiting_for_slot_.begin(), waiting_for_slot_.end());
  waiting_questions_.clear();
  waiting_for_slot_.clear();
  return all;
}

}  // namespace llamavisor::supervisor
