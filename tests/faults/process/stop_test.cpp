#include "process/stop_sequence.hpp"
#include "spawned.hpp"

#include <signal.h>

#include <algorithm>
#include <catch.hpp>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace llamavisor::process::testing {
namespace {

using namespace std::chrono_literals;

// A grace that a test never sees the end of, and one that it waits for.
StopPlan patient() {
  return default_stop_plan(hang_guard, hang_guard);
}
StopPlan brief() {
  return default_stop_plan(50ms, hang_guard);
}

std::vector<std::string> terms(const Spawned& child) {
  std::vector<std::string> found;
  for (const auto& line : child.lines()) {
    if (line.starts_with("TERM")) found.push_back(line);
  }
  return found;
}

TEST_CASE("a polite child gets one TERM, and its exit is its own") {
  Spawned child(probe({"polite"}));
  child.wait_for_line("ready");
  child.stop(patient());
  child.stop(patient());  // changes nothing
  bool stopping = false;
  child.call([&](ChildProcess& process) { stopping = process.stopping(); });
  CHECK(stopping);
  CHECK(child.wait_for_exit().code == 0);
  CHECK(terms(child) == std::vector<std::string>{"TERM"});
  child.call([&](ChildProcess& process) { stopping = process.stopping(); });
  CHECK(stopping);
  CHECK(child.exits() == 1);
}

TEST_CASE("a deaf child is killed after the grace, and was asked once") {
  Spawned child(probe({"deaf"}));
  child.wait_for_line("ready");
  child.stop(brief());
  CHECK(child.wait_for_exit().signal == SIGKILL);
  CHECK(terms(child) == std::vector<std::string>{"TERM 1"});
}

TEST_CASE("a second stop does not shorten the first, nor send a second TERM") {
  Spawned child(probe({"deaf"}));
  child.wait_for_line("ready");
  child.stop(patient());
  child.wait_for_line("TERM 1");
  child.stop(StopPlan{StopStep{.signals = {SIGTERM, SIGKILL}, .whole_group = true, .wait = 0ms}});
  ::kill(static_cast<pid_t>(child.pid()), SIGTERM);
  child.wait_for_line("TERM 2");  // ours, from here: the stop's own would have come before
  CHECK(child.exits() == 0);
  child.kill();
  CHECK(child.wait_for_exit().signal == SIGKILL);
}

TEST_CASE("a stopped child is continued, so that it can take the TERM") {
  Spawned child(probe({"stopped"}));
  child.wait_for_line("ready");
  wait_until("it stands still", [&] { return is_stopped(child.pid()); });
  child.stop(patient());
  CHECK(child.wait_for_exit().signal == SIGTERM);
}

TEST_CASE("a child that ignores everything and its group end by KILL") {
  Spawned child(probe({"keep-deaf-grandchild"}));
  const auto grandchild = std::stoll(child.wait_for_line("grandchild "));
  child.stop(StopPlan{StopStep{.signals = {SIGKILL}, .whole_group = true, .wait = hang_guard}});
  CHECK(child.wait_for_exit().signal == SIGKILL);
  wait_until("the grandchild has ended", [&] { return has_ended(grandchild); });
}

TEST_CASE("a grandchild that ignores TERM ends with a child that takes it") {
  Spawned child(probe({"keep-deaf-grandchild"}));
  const auto grandchild = std::stoll(child.wait_for_line("grandchild "));
  child.stop(patient());
  CHECK(child.wait_for_exit().signal == SIGTERM);
  wait_until("the grandchild has ended", [&] { return has_ended(grandchild); });
}

TEST_CASE("a step may go to the whole group") {
  Spawned child(probe({"watch-grandchild"}));
  child.wait_for_line("ready");
  child.stop(StopPlan{StopStep{.signals = {SIGHUP}, .whole_group = true, .wait = hang_guard}});
  CHECK(child.wait_for_line("grandchild ended by ") == std::to_string(SIGHUP));
  CHECK(child.exits() == 0);
  child.kill();
  CHECK(child.wait_for_exit().signal == SIGKILL);
}

TEST_CASE("a child that nobody holds any more is killed, and reaped in the background") {
  std::int64_t pid = -1;
  {
    Spawned child(probe({"deaf"}));
    child.wait_for_line("ready");
    pid = child.pid();
    child.forget();
    CHECK(child.exits() == 0);
  }
  wait_until("it is reaped", [&] { return ::kill(static_cast<pid_t>(pid), 0) != 0; });
}

TEST_CASE("a handler may drop the process whose handler it is") {
  const auto runtime = Runtime::shared();
  for (const bool at_exit : {false, true}) {
    CAPTURE(at_exit);
    std::shared_ptr<ChildProcess> child;
    int calls = 0;
    std::int64_t pid = -1;
    on_runtime(*runtime, [&] {
      SpawnError error;
      ChildProcess::Handlers handlers;
      // The captures are used after the drop: they must live until the handler returns.
      const auto drop = [&child, &calls, text = std::string(1000, 'x')] {
        child.reset();
        calls += text == std::string(1000, 'x') ? 1 : 0;
      };
      if (at_exit) {
        handlers.on_exit = [drop](ExitStatus) { drop(); };
      } else {
        handlers.on_line = [drop](std::string_view) { drop(); };
      }
      child = ChildProcess::spawn(runtime, probe({"both-streams"}), handlers, error);
      if (child) pid = child->pid();
    });
    REQUIRE(pid > 0);
    wait_until("it is reaped", [&] { return ::kill(static_cast<pid_t>(pid), 0) != 0; });
    on_runtime(*runtime, [] {});
    CHECK(calls == 1);
  }
}

}  // namespace
}  // namespace llamavisor::process::testing
