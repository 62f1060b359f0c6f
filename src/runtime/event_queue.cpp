#include "runtime/event_queue.hpp"

#include "runtime/thread_setup.hpp"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace llamavisor {

// Shared with the thread, which may outlive the queue.
struct EventQueue::State {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> tasks;
  std::thread thread;
  std::atomic<std::thread::id> id{};
  bool ending = false;

  void run() {
    id = std::this_thread::get_id();
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, [this] { return ending || !tasks.empty(); });
      if (tasks.empty()) return;
      auto task = std::move(tasks.front());
      tasks.pop_front();
      lock.unlock();
      try {
        task();
      } catch (...) {  // the host's handler threw: its own affair
      }
      task = nullptr;  // its captures may post again, or drop the last holder of the runtime
      lock.lock();
    }
  }
};

EventQueue::EventQueue() : state_(std::make_shared<State>()) {}

EventQueue::~EventQueue() {
  std::thread thread;
  {
    const std::lock_guard lock(state_->mutex);
    state_->ending = true;
    thread = std::move(state_->thread);
  }
  state_->changed.notify_all();
  if (!thread.joinable()) return;
  if (on_thread()) {
    thread.detach();
  } else {
    thread.join();
  }
}

void EventQueue::let_go() noexcept {
  const std::lock_guard lock(state_->mutex);
  state_->ending = true;
  if (state_->thread.joinable()) state_->thread.detach();
  state_->changed.notify_all();
}

void EventQueue::post(std::function<void()> task) {
  {
    const std::lock_guard lock(state_->mutex);
    state_->tasks.push_back(std::move(task));
    if (!state_->thread.joinable() && !state_->ending) {
      try {
        state_->thread = start_thread("llamavisor-evt", [state = state_] { state->run(); });
      } catch (const std::system_error&) {  // no thread left: the next event tries again
      }
    }
  }
  state_->changed.notify_one();
}

bool EventQueue::on_thread() const noexcept {
  return state_->id == std::this_thread::get_id();
}

}  // namespace llamavisor
