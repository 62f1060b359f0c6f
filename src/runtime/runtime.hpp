/// \file
/// The one long-lived thread. It owns every socket, every child and all state of the supervisors.
#pragma once

#include <functional>
#include <memory>

namespace boost::asio {
class io_context;
}

namespace llamavisor {

/// The runtime thread and its io_context, shared by all models of the process.
///
/// It lives while anybody holds it: children are spawned on it, since `PR_SET_PDEATHSIG` is tied
/// to the thread that forked, and each supervisor keeps it alive until its child is reaped.
class Runtime {
 public:
  using Task = std::function<void()>;

  /// The process's runtime, started when nobody holds one. Throws `Error` (`wrong_process`) in a
  /// child that was forked from a host with a live runtime. Any thread.
  static std::shared_ptr<Runtime> shared();

  Runtime();
  /// Runs what was posted, then ends both threads; the last holder may well let go of it on one of
  /// them, and then nobody waits. In a child after fork() it does nothing.
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  /// Runs a task on the runtime thread, later, in order. A task must not throw: nobody could catch
  /// it. In a child after fork() the task is dropped. Any thread.
  void post(Task task);

  /// Runs a task on the event thread: for code of the host, which may be slow. In order. Any
  /// thread.
  void post_event(Task task);

  bool on_runtime_thread() const noexcept;
  bool on_event_thread() const noexcept;

  /// False in a child after fork(): nothing here works there.
  bool in_own_process() const noexcept;

  boost::asio::io_context& context() noexcept;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace llamavisor
