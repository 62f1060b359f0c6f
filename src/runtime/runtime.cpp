#include "runtime/runtime.hpp"

#include <llamavisor/error.hpp>

#include "runtime/after_fork.hpp"
#include "runtime/event_queue.hpp"
#include "runtime/thread_setup.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <atomic>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

namespace llamavisor {
namespace {

namespace asio = boost::asio;

// One for the process, never destroyed: a host's own static objects may still use it, and a
// library is a guest that leaves no atexit handler behind.
struct Registry {
  std::mutex mutex;
  std::weak_ptr<Runtime> current;
  // Runtimes alive, and calls of shared() under way. A child of fork() that sees any has copies of
  // our locks in an unknown state, so this is read before any lock is touched.
  std::atomic<int> in_use{0};
  std::atomic<long> process{0};

  static Registry& get() {
    static Registry& registry = *new Registry;
    return registry;
  }
};

class InUse {
 public:
  InUse() {
    Registry& registry = Registry::get();
    const long here = current_process();
    if (registry.in_use.load() > 0 && registry.process.load() != here) {
      throw Error(
          errc::wrong_process,
          "llamavisor was in use when this process was forked: it works in the parent only");
    }
    registry.process = here;
    ++registry.in_use;
  }
  ~InUse() { --Registry::get().in_use; }
  InUse(const InUse&) = delete;
  InUse& operator=(const InUse&) = delete;
};

}  // namespace

class Runtime::Impl {
 public:
  Impl() {
    try {
      thread = start_thread("llamavisor", [loop = loop] { loop->run(); });
    } catch (const std::system_error& error) {
      throw Error(errc::internal,
                  std::string("the runtime thread cannot be started: ") + error.what());
    }
  }

  // Tasks that were posted before still run; operations that are pending do not hold it up.
  ~Impl() {
    if (on_runtime_thread()) {
      // Usual: the last holder is often a child's reap. The runtime thread does not wait for a
      // host's handler either.
      events.let_go();
      thread.detach();
    }
    loop->post([loop = loop.get()] { loop->context->stop(); });
    if (thread.joinable()) thread.join();
  }

  // Shared with the thread, which may outlive us. The thread destroys the context, and with it
  // whatever was pending, so that nothing of a handler is destroyed anywhere else.
  struct Loop {
    std::optional<asio::io_context> context{std::in_place, 1};
    std::atomic<std::thread::id> id{};

    // A queue of our own: asio keeps what is posted on its own thread apart until the handler
    // returns, so that what another thread posts after it could overtake it.
    std::mutex mutex;
    std::deque<Task> tasks;
    bool scheduled = false;

    void post(Task task) {
      const std::lock_guard lock(mutex);
      tasks.push_back(std::move(task));
      if (!std::exchange(scheduled, true)) schedule();
    }

    void schedule() {
      asio::post(*context, [this] { run_tasks(); });
    }

    // Those that are there now: sockets and timers have their turn before those that come.
    void run_tasks() {
      std::deque<Task> now;
      {
        const std::lock_guard lock(mutex);
        now.swap(tasks);
      }
      for (auto& task : now) {
        std::exchange(task, nullptr)();
      }
      const std::lock_guard lock(mutex);
      if (tasks.empty()) {
        scheduled = false;
      } else {
        schedule();
      }
    }

    void run() {
      id = std::this_thread::get_id();
      {
        const auto work = asio::make_work_guard(*context);
        context->run();
      }
      std::deque<Task> too_late;
      {
        const std::lock_guard lock(mutex);
        too_late.swap(tasks);
      }
      too_late.clear();
      context.reset();
    }
  };

  bool on_runtime_thread() const noexcept { return loop->id == std::this_thread::get_id(); }

  InUse in_use;
  const long process = current_process();
  std::shared_ptr<Loop> loop = std::make_shared<Loop>();
  EventQueue events;
  std::thread thread;
};

std::shared_ptr<Runtime> Runtime::shared() {
  const InUse in_use;
  Registry& registry = Registry::get();
  const std::lock_guard lock(registry.mutex);
  auto runtime = registry.current.lock();
  if (!runtime) {
    runtime = std::make_shared<Runtime>();
    registry.current = runtime;
  }
  return runtime;
}

Runtime::Runtime() : impl_(std::make_unique<Impl>()) {}

Runtime::~Runtime() {
  // In a child of fork() there is no thread to join, and the epoll set is the parent's too: leave
  // everything as it is.
  if (!in_own_process()) keep_for_ever(std::move(impl_));
}

void Runtime::post(Task task) {
  if (in_own_process()) impl_->loop->post(std::move(task));
}

void Runtime::post_event(Task task) {
  if (in_own_process()) impl_->events.post(std::move(task));
}

bool Runtime::on_runtime_thread() const noexcept {
  return impl_->on_runtime_thread();
}
bool Runtime::on_event_thread() const noexcept {
  return impl_->events.on_thread();
}
bool Runtime::in_own_process() const noexcept {
  return impl_->process == current_process();
}
asio::io_context& Runtime::context() noexcept {
  return *impl_->loop->context;
}

}  // namespace llamavisor
