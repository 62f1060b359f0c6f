/// \file
/// The thread on which the host's event handlers run.
#pragma once

#include <functional>
#include <memory>

namespace llamavisor {

/// Runs tasks in order on a thread of its own, which starts with the first task. A handler may be
/// slow, or throw: neither reaches the runtime thread.
class EventQueue {
 public:
  EventQueue();
  ~EventQueue();  ///< runs what is queued, then joins; on its own thread it lets go of itself
  EventQueue(const EventQueue&) = delete;
  EventQueue& operator=(const EventQueue&) = delete;

  void post(std::function<void()> task);
  bool on_thread() const noexcept;

  /// What is queued still runs, but nobody waits for it.
  void let_go() noexcept;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace llamavisor
