#include "process/descriptor.hpp"
#include "process/launch.posix.hpp"
#include "spawned.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch.hpp>
#include <cstdlib>
#include <new>
#include <string>
#include <thread>
#include <vector>

namespace llamavisor::process::testing {
namespace {

// In memory that a copy of this process would share, so that what a copy does is seen here.
struct Seen {
  std::atomic<int> handlers_in_host{0};
  std::atomic<int> handlers_elsewhere{0};
  std::atomic<int> fork_handlers{0};
};
Seen* seen = nullptr;
pid_t host = 0;

// Handlers that run in a process whose memory is shared, or is a copy, are host code run twice.
void on_signal(int) {
  (::getpid() == host ? seen->handlers_in_host : seen->handlers_elsewhere)++;
}

class BusyHost {
 public:
  BusyHost() {
    seen = new (::mmap(nullptr, sizeof(Seen), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                       -1, 0)) Seen;
    host = ::getpid();
    struct sigaction action = {};
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    ::sigaction(SIGUSR1, &action, &before_);
    static const int once = ::pthread_atfork(nullptr, nullptr, [] { seen->fork_handlers++; });
    static_cast<void>(once);
    // They allocate and free, and so hold the heap's locks, and send signals to this process.
    for (int number = 0; number < 8; ++number) {
      threads_.emplace_back([this, number] {
        while (!ending_) {
          std::vector<std::string> strings(64, std::string(100, 'x'));
          if (number == 0) send_signal();
          std::this_thread::yield();
        }
      });
    }
  }
  ~BusyHost() {
    ending_ = true;
    for (auto& thread : threads_)
      thread.join();
    ::sigaction(SIGUSR1, &before_, nullptr);
  }

 private:
  // One at a time, so that the threads have time for something else.
  void send_signal() {
    if (seen->handlers_in_host + seen->handlers_elsewhere < sent_) return;
    ++sent_;
    ::kill(host, SIGUSR1);
  }

  int sent_ = 0;
  struct sigaction before_;
  std::atomic<bool> ending_{false};
  std::vector<std::thread> threads_;
};

TEST_CASE("spawning beside busy threads neither hangs nor runs a copy of the host's code") {
  const bool all = std::getenv("LLAMAVISOR_LONG") != nullptr;
  const int spawns = all ? 10'000 : 1'000;
  const auto runtime = Runtime::shared();
  const auto before = settled_belongings(runtime);
  int good = 0;
  {
    const BusyHost busy;
    for (int count = 0; count < spawns; ++count) {
      Spawned child(probe({"exit", "5"}), SystemCalls::real(), runtime);
      if (child.started() && child.wait_for_exit().code == 5) ++good;
    }
  }
  CHECK(good == spawns);
  CHECK(seen->handlers_in_host > 0);
  CHECK(seen->handlers_elsewhere == 0);
  CHECK(seen->fork_handlers == 0);
  CHECK(belongings(runtime) == before);
}

// The runtime thread has its signals blocked in any case; the launch itself must not depend on
// that.
TEST_CASE("a launch on a thread that takes signals lets no handler run in the child") {
  SystemCalls& calls = SystemCalls::real();
  const SpawnRequest request = probe({"exit", "5"});
  const Descriptor null(calls, ::open("/dev/null", O_RDWR | O_CLOEXEC));
  int good = 0, in_host = 0;
  {
    const BusyHost busy;
    for (int count = 0; count < 500; ++count) {
      SpawnError error;
      const Launched launched =
          launch(request, {.in = null.get(), .out = null.get(), .error = null.get()}, calls, error);
      siginfo_t info{};
      if (launched.pidfd.get() < 0) continue;
      while (::waitid(P_PIDFD, static_cast<id_t>(launched.pidfd.get()), &info, WEXITED) != 0) {
      }
      if (info.si_code == CLD_EXITED && info.si_status == 5) ++good;
    }
    in_host = seen->handlers_in_host;
  }
  CHECK(good == 500);
  CHECK(in_host > 0);
  CHECK(seen->handlers_elsewhere == 0);
}

TEST_CASE("a thousand children leave no zombie and no descriptor, whatever their end") {
  const auto runtime = Runtime::shared();
  const auto before = settled_belongings(runtime);
  for (int count = 0; count < 1000; ++count) {
    SpawnRequest request = probe({count % 4 == 0 ? "polite" : "exit", "0"});
    if (count % 4 == 1) request.command = {"/nonexistent/program"};
    Spawned child(std::move(request), SystemCalls::real(), runtime);
    if (count % 4 == 0) child.stop(default_stop_plan(hang_guard, hang_guard));
    if (child.started() && count % 4 != 2) static_cast<void>(child.wait_for_exit());
    // Every fourth is simply let go of.
  }
  wait_until("all are reaped", [&] { return belongings(runtime) == before; });
  CHECK(belongings(runtime) == before);
}

}  // namespace
}  // namespace llamavisor::process::testing
