#include "process/stop_sequence.hpp"
#include "spawned.hpp"

#include <signal.h>

#include <atomic>
#include <catch.hpp>
#include <chrono>
#include <memory>

namespace llamavisor::process::testing {
namespace {

using namespace std::chrono_literals;

// A process that the kernel keeps, such as one in the middle of a hung driver call: its end is not
// to be seen.
class HiddenExit : public SystemCalls {
 public:
  int waitid(idtype_t kind, id_t id, siginfo_t& info, int options) override {
    if (!hidden) return SystemCalls::waitid(kind, id, info, options);
    ++looks;
    info = {};
    return 0;
  }
  std::atomic<bool> hidden{true};
  std::atomic<int> looks{0};
};

TEST_CASE("a child that the kernel keeps is reported, and reaped when the kernel lets go") {
  HiddenExit calls;
  Spawned child(probe({"deaf"}), calls);
  child.wait_for_line("ready");
  child.stop(default_stop_plan(20ms, 20ms));
  CHECK(child.wait_for_unreaped() == child.pid());
  CHECK(child.exits() == 0);
  CHECK(has_ended(child.pid()));
  bool running = false;
  child.call([&](ChildProcess& process) { running = process.running(); });
  CHECK(running);
  calls.hidden = false;
  CHECK(child.wait_for_exit().signal == SIGKILL);
  CHECK(::kill(static_cast<pid_t>(child.pid()), 0) != 0);
}

TEST_CASE("an exit that stays hidden is looked for now and then, not without a pause") {
  HiddenExit calls;
  Spawned child(probe({"exit", "0"}), calls);
  wait_until("it has ended", [&] { return has_ended(child.pid()); });
  wait_until("it was looked for", [&] { return calls.looks >= 3; });
  // A loop without a pause would look far more often than a thread that asks all the time.
  const int before = calls.looks;
  for (int round = 0; round < 1000; ++round)
    child.call([](ChildProcess&) {});
  CHECK(calls.looks - before < 500);
  calls.hidden = false;
  CHECK(child.wait_for_exit().code == 0);
}

TEST_CASE("a child that the kernel keeps does not hold up the holder of the runtime") {
  HiddenExit calls;
  auto runtime = std::make_shared<Runtime>();
  std::weak_ptr<Runtime> watched = runtime;
  std::int64_t pid = -1;
  {
    Spawned child(probe({"deaf"}), calls, std::move(runtime));
    child.wait_for_line("ready");
    pid = child.pid();
    child.stop(default_stop_plan(0ms, 0ms));
    CHECK(child.wait_for_unreaped() == pid);
  }  // lets go of the child and of the runtime, while the end is still hidden
  CHECK_FALSE(watched.expired());
  calls.hidden = false;
  wait_until("it is reaped", [&] { return ::kill(static_cast<pid_t>(pid), 0) != 0; });
  wait_until("the runtime is gone", [&] { return watched.expired(); });
}

TEST_CASE("a plan without steps reports at once, never from within") {
  HiddenExit calls;
  Spawned child(probe({"polite"}), calls);
  child.wait_for_line("ready");
  child.stop({});
  CHECK(child.wait_for_unreaped() == child.pid());
  calls.hidden = false;
  child.kill();
  CHECK(child.wait_for_exit().signal == SIGKILL);
}

}  // namespace
}  // namespace llamavisor::process::testing
