#include "failing_calls.hpp"

#include "spawned.hpp"

#include <catch.hpp>
#include <cerrno>
#include <chrono>
#include <string>
#include <vector>

namespace llamavisor::process::testing {
namespace {

struct Fault {
  const char* call;
  std::vector<int> errors;
};

// Each call of the room, with what it may well answer.
const std::vector<Fault> faults = {
    {"pipe2", {EMFILE, ENFILE}},
    {"fcntl", {EMFILE}},
    {"open", {EMFILE, ENFILE, ENOENT}},
    {"dup3", {EMFILE, EINTR}},
    {"clone", {EAGAIN, ENOMEM, EMFILE}},
    {"setpgid", {EPERM}},
    {"sigaction", {EINVAL}},
    {"prctl", {EINVAL, EPERM}},
    {"getppid", {0}},
    {"close_range", {ENOSYS, EPERM, ENOMEM}},
    {"chdir", {ENOENT, EACCES, ENOMEM}},
    {"write", {EACCES}},
    {"sigprocmask", {EINVAL}},
    {"execve", {ENOENT, EACCES, ENOMEM, EAGAIN}},
    {"read", {EINTR, EAGAIN, EIO}},
    {"waitid", {EINTR, ENOMEM}},
    {"kill", {ESRCH, EPERM}},
    {"pidfd_send_signal", {ESRCH, EPERM}},
};

// One life of a child: started, stopped, reaped. True where the fault struck.
bool one_life(const Fault& fault, int nth, int error) {
  FailingCalls calls(fault.call, nth, error);
  SpawnRequest request = probe({"polite"});
  request.oom_score_adj = 500;
  Spawned child(std::move(request), calls);
  if (child.started()) {
    CHECK(child.error().step.empty());
    child.stop(default_stop_plan(std::chrono::milliseconds(50), hang_guard));
    static_cast<void>(child.wait_for_exit());
    CHECK(child.exits() == 1);
  } else {
    CHECK_FALSE(child.error().step.empty());
    CHECK(child.error().error != 0);
    CHECK(child.exits() == 0);
  }
  return calls.fired();
}

// A failed spawn whose reap is disturbed as well.
bool one_failed_spawn(const Fault& fault, int nth, int error) {
  FailingCalls calls(fault.call, nth, error);
  SpawnRequest request = probe({});
  request.command = {"/nonexistent/program"};
  Spawned child(std::move(request), calls);
  CHECK_FALSE(child.started());
  CHECK_FALSE(child.error().step.empty());
  return calls.fired();
}

TEST_CASE("whichever system call fails, there is a typed error or a child, and nothing is left") {
  const auto runtime = Runtime::shared();
  const auto before = settled_belongings(runtime);
  for (const auto& fault : faults) {
    for (const int error : fault.errors) {
      int nth = 1;
      CAPTURE(fault.call, error);
      while (one_life(fault, nth, error)) {
        ++nth;
        REQUIRE(nth < 1000);
      }
      CHECK(nth > 1);  // it is called at all
      CHECK(belongings(runtime) == before);
    }
  }
}

TEST_CASE("a failed spawn is reaped, even where a signal disturbs the reap") {
  const auto runtime = Runtime::shared();
  const auto before = settled_belongings(runtime);
  const Fault fault{"waitid", {EINTR}};
  int nth = 1;
  while (one_failed_spawn(fault, nth, EINTR))
    ++nth;
  CHECK(nth == 2);
  CHECK(belongings(runtime) == before);
}

}  // namespace
}  // namespace llamavisor::process::testing
