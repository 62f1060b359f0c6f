#include "process/exit_status.hpp"
#include "spawned.hpp"

#include <signal.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch.hpp>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace llamavisor::process::testing {
namespace {

TEST_CASE("an exit code is told as it is") {
  Spawned child(probe({"exit", "42"}));
  REQUIRE(child.started());
  const ExitStatus status = child.wait_for_exit();
  CHECK(status.code == 42);
  CHECK_FALSE(status.signal.has_value());
}

TEST_CASE("a signal is told as it is, after the output that came before") {
  Spawned child(probe({"signal", std::to_string(SIGSEGV)}));
  const ExitStatus status = child.wait_for_exit();
  CHECK_FALSE(status.code.has_value());
  CHECK(status.signal == SIGSEGV);
  CHECK(child.lines() == std::vector<std::string>{"about to end"});
}

TEST_CASE("an end is told once, and the process is reaped by then") {
  Spawned child(probe({"polite"}));
  child.wait_for_line("ready");
  bool running = false;
  child.call([&](ChildProcess& process) { running = process.running(); });
  CHECK(running);
  child.kill();
  CHECK(child.wait_for_exit().signal == SIGKILL);
  CHECK(::kill(static_cast<pid_t>(child.pid()), 0) != 0);
  bool stopping = true;
  std::uint64_t memory = 1;
  child.call([&](ChildProcess& process) {
    running = process.running();
    stopping = process.stopping();
    memory = process.resident_memory();
    process.kill();
    process.stop(default_stop_plan(std::chrono::seconds(1), std::chrono::seconds(1)));
  });
  CHECK_FALSE(running);
  CHECK_FALSE(stopping);
  CHECK(memory == 0);
  CHECK(child.exits() == 1);
}

TEST_CASE("a grandchild that stayed in the group ends with its parent") {
  Spawned child(probe({"leave-grandchild"}));
  const auto grandchild = std::stoll(child.wait_for_line("grandchild "));
  CHECK(child.wait_for_exit().code == 3);
  wait_until("the grandchild has ended", [&] { return has_ended(grandchild); });
}

TEST_CASE("a grandchild that keeps the pipe open and floods it does not hide the exit") {
  Spawned child(probe({"leave-escaped-flood"}));
  const auto grandchild = std::stoll(child.wait_for_line("grandchild "));
  CHECK(child.wait_for_exit().code == 3);
  // Its pipe is closed: it has nobody to write to.
  wait_until("the flood has ended", [&] { return has_ended(grandchild); });
}

TEST_CASE("a child that closes its outputs is still watched") {
  Spawned child(probe({"close-streams"}));
  REQUIRE(child.started());
  wait_until("it has closed them", [&] {
    return ::access(("/proc/" + std::to_string(child.pid()) + "/fd/2").c_str(), F_OK) != 0;
  });
  child.kill();
  CHECK(child.wait_for_exit().signal == SIGKILL);
}

TEST_CASE("the host's own children stay the host's") {
  const pid_t own = ::fork();
  if (own == 0) ::_exit(7);
  for (int round = 0; round < 20; ++round) {
    Spawned child(probe({"exit", "1"}));
    CHECK(child.wait_for_exit().code == 1);
  }
  int status = 0;
  REQUIRE(::waitpid(own, &status, 0) == own);
  CHECK(WEXITSTATUS(status) == 7);
}

// Restored at the end, whatever a check says.
class ChildSignalIgnored {
 public:
  ChildSignalIgnored() : before_(::signal(SIGCHLD, SIG_IGN)) {}
  ~ChildSignalIgnored() { ::signal(SIGCHLD, before_); }

 private:
  void (*before_)(int);
};

// Kernels before 6.15.
class NoExitStatus : public SystemCalls {
 public:
  int pidfd_exit_status(int, int&) override {
    errno = ENOTTY;
    return -1;
  }
};

bool kernel_remembers_exits() {
  utsname name{};
  int major = 0, minor = 0;
  if (::uname(&name) != 0 || std::sscanf(name.release, "%d.%d", &major, &minor) != 2) return false;
  return major > 6 || (major == 6 && minor >= 15);
}

TEST_CASE("a host that ignores SIGCHLD still hears of the end") {
  const ChildSignalIgnored ignored;
  NoExitStatus calls;
  Spawned child(probe({"exit", "42"}), calls);
  const ExitStatus status = child.wait_for_exit();
  CHECK_FALSE(status.code.has_value());
  CHECK_FALSE(status.signal.has_value());
}

TEST_CASE("a host that ignores SIGCHLD hears of the kind of the end where the kernel knows it") {
  const ChildSignalIgnored ignored;
  Spawned exited(probe({"exit", "42"}));
  Spawned ended(probe({"signal", std::to_string(SIGSEGV)}));
  CHECK(exited.wait_for_exit().code.has_value() == kernel_remembers_exits());
  CHECK(exited.wait_for_exit().code.value_or(42) == 42);
  CHECK(ended.wait_for_exit().signal.has_value() == kernel_remembers_exits());
  CHECK(ended.wait_for_exit().signal.value_or(SIGSEGV) == SIGSEGV);
}

TEST_CASE("a failed spawn in a host that ignores SIGCHLD is told as ever") {
  const ChildSignalIgnored ignored;
  SpawnRequest missing = probe({});
  missing.command = {"/nonexistent/program"};
  Spawned failed(std::move(missing));
  CHECK(failed.error().step == "execve");
  CHECK(failed.error().error == ENOENT);
}

TEST_CASE("the port of a child is found by its own socket, and its memory is known") {
  Spawned child(probe({"listen"}));
  const auto port = std::stoi(child.wait_for_line("port "));
  std::optional<std::uint16_t> found;
  std::uint64_t memory = 0;
  child.call([&](ChildProcess& process) {
    found = process.listening_tcp_port();
    memory = process.resident_memory();
  });
  CHECK(found == port);
  CHECK(memory > 0);

  Spawned silent(probe({"polite"}));
  silent.wait_for_line("ready");
  silent.call([&](ChildProcess& process) { found = process.listening_tcp_port(); });
  CHECK_FALSE(found.has_value());
}

}  // namespace
}  // namespace llamavisor::process::testing
