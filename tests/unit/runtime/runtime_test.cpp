#include "runtime/runtime.hpp"

#include <llamavisor/error.hpp>

#include "threads.hpp"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch.hpp>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace llamavisor {
namespace {

using testing::get;
using testing::on_runtime;

constexpr const char* thread_name = "llamavisor";

TEST_CASE("a task runs later, on the runtime thread, in order") {
  const auto runtime = Runtime::shared();
  CHECK_FALSE(runtime->on_runtime_thread());
  std::vector<int> order;
  bool there = false;
  on_runtime(*runtime, [&] {
    there = runtime->on_runtime_thread();
    runtime->post([&] { order.push_back(2); });
    order.push_back(1);
  });
  // Posted after the inner one was, from another thread: it must not overtake that.
  on_runtime(*runtime, [&] { order.push_back(3); });
  CHECK(there);
  CHECK(order == std::vector<int>{1, 2, 3});
}

TEST_CASE("there is one runtime as long as anybody holds it, and none after that") {
  auto first = Runtime::shared();
  auto second = Runtime::shared();
  CHECK(first == second);
  on_runtime(*first, [] {});  // it has its name by then
  CHECK(testing::threads_named(thread_name) == 1);
  first.reset();
  CHECK(Runtime::shared() == second);
  second.reset();
  testing::wait_until([] { return testing::threads_named(thread_name) == 0; });
  on_runtime(*Runtime::shared(), [] {});
}

TEST_CASE("what was posted before the last holder lets go still runs") {
  auto runtime = std::make_shared<Runtime>();
  int ran = 0;
  for (int i = 0; i < 1000; ++i)
    runtime->post([&] { ++ran; });
  runtime.reset();  // joins
  CHECK(ran == 1000);
}

TEST_CASE("the last holder may let go on the runtime thread itself") {
  for (int round = 0; round < 50; ++round) {
    auto runtime = std::make_shared<Runtime>();
    std::promise<void> gone;
    auto* raw = runtime.get();
    std::promise<void> alone;
    raw->post([runtime = std::move(runtime), &gone, &alone]() mutable {
      alone.get_future().wait();
      runtime.reset();
      gone.set_value();
    });
    alone.set_value();
    get(gone.get_future());
  }
  testing::wait_until([] { return testing::threads_named(thread_name) == 0; });
}

TEST_CASE("no handler of the host runs on the runtime thread, but a fault's own") {
  sigset_t before, after, there;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  const auto runtime = std::make_shared<Runtime>();
  pthread_sigmask(SIG_SETMASK, nullptr, &after);
  on_runtime(*runtime, [&] { pthread_sigmask(SIG_SETMASK, nullptr, &there); });
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGPIPE, SIGALRM, SIGUSR1, SIGWINCH}) {
    CAPTURE(signal);
    CHECK(sigismember(&there, signal) == 1);
    CHECK(sigismember(&after, signal) == sigismember(&before, signal));
  }
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
    CAPTURE(fault);
    CHECK(sigismember(&there, fault) == 0);
  }
}

// Runs the body in a child of fork(); its result is the exit code. A hang is ended by the alarm.
template <typename Body>
int in_forked_child(Body body) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    ::_exit(body());
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

TEST_CASE("in a child of fork() a live runtime is dead, says so, and never hangs") {
  auto runtime = Runtime::shared();
  CHECK(runtime->in_own_process());
  const int code = in_forked_child([&] {
    if (runtime->in_own_process()) return 1;
    try {
      static_cast<void>(Runtime::shared());
      return 2;
    } catch (const Error& error) {
      if (error.code() != errc::wrong_process) return 3;
    }
    runtime->post([] {});
    runtime->post_event([] {});
    runtime.reset();
    try {
      static_cast<void>(Runtime::shared());
      return 4;
    } catch (const Error&) {
    }
    return 0;
  });
  CHECK(code == 0);
  bool works = false;
  on_runtime(*runtime, [&] { works = true; });  // the parent's is untouched
  CHECK(works);
}

TEST_CASE("a child of fork() may have a runtime of its own where the parent had none") {
  testing::wait_until([] { return testing::threads_named(thread_name) == 0; });
  const int code = in_forked_child([] {
    bool works = false;
    auto runtime = Runtime::shared();
    on_runtime(*runtime, [&] { works = true; });
    runtime.reset();
    return works ? 0 : 1;
  });
  CHECK(code == 0);
}

TEST_CASE("many threads may ask for it, use it and let go of it at once") {
  std::vector<std::thread> threads;
  std::atomic<int> ran{0};
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 200; ++round) {
        const auto runtime = Runtime::shared();
        runtime->post([&ran] { ++ran; });
      }
    });
  }
  for (auto& thread : threads)
    thread.join();
  testing::wait_until([&] { return ran == 800; });
  CHECK(ran == 800);
}

}  // namespace
}  // namespace llamavisor
