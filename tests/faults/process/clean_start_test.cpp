#include "spawned.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <catch.hpp>
#include <cerrno>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace llamavisor::process::testing {
namespace {

// What a difficult host has done before: signals blocked and ignored, handlers, open files.
class DifficultHost {
 public:
  DifficultHost() {
    sigset_t blocked;
    sigemptyset(&blocked);
    for (const int signal : {SIGTERM, SIGINT, SIGCHLD, SIGRTMIN})
      sigaddset(&blocked, signal);
    pthread_sigmask(SIG_BLOCK, &blocked, &mask_);
    for (const int signal : {SIGPIPE, SIGHUP, SIGUSR1, SIGRTMIN + 3}) {
      struct sigaction action = {};
      action.sa_handler = signal == SIGUSR1 ? [](int) {} : SIG_IGN;
      ::sigaction(signal, &action, &before_.emplace_back(signal, Action{}).second);
    }
    // Neither is close-on-exec, and one lies far above the rest.
    low_ = ::open("/dev/null", O_RDONLY);
    high_ = ::fcntl(low_, F_DUPFD, 900);
  }
  ~DifficultHost() {
    for (auto& [signal, action] : before_)
      ::sigaction(signal, &action, nullptr);
    pthread_sigmask(SIG_SETMASK, &mask_, nullptr);
    ::close(low_);
    ::close(high_);
  }
  bool has_files() const { return low_ >= 0 && high_ >= 900; }

 private:
  using Action = struct sigaction;
  sigset_t mask_;
  std::vector<std::pair<int, Action>> before_;
  int low_ = -1, high_ = -1;
};

// A host without close_range, such as one on an older kernel.
class NoCloseRange : public SystemCalls {
 public:
  int close_range(unsigned, unsigned) override {
    errno = ENOSYS;
    return -1;
  }
};

// The two signals that the C library keeps for itself show in no mask of ours.
std::uint64_t signals(const std::string& hexadecimal) {
  constexpr std::uint64_t of_the_library = 0x180000000;
  return std::stoull(hexadecimal, nullptr, 16) & ~of_the_library;
}

void check_clean(Spawned& child) {
  REQUIRE(child.started());
  REQUIRE(child.wait_for_exit().code == 0);
  CHECK(child.wait_for_line("descriptors ") == "0,1,2");
  CHECK(child.wait_for_line("stdin ") == "/dev/null");
  CHECK(child.wait_for_line("group ") == child.wait_for_line("pid "));
  CHECK(child.wait_for_line("pid ") == std::to_string(child.pid()));
  CHECK(child.wait_for_line("parent ") == std::to_string(::getpid()));
  CHECK(child.wait_for_line("death_signal ") == std::to_string(SIGKILL));
  for (const char* mask : {"SigPnd ", "ShdPnd ", "SigBlk ", "SigIgn ", "SigCgt "}) {
    CAPTURE(mask);
    CHECK(signals(child.wait_for_line(mask)) == 0);
  }
}

TEST_CASE("a child starts clean in a difficult host") {
  const DifficultHost host;
  REQUIRE(host.has_files());
  Spawned child(probe({"report"}));
  check_clean(child);
}

TEST_CASE("a child starts clean where the kernel has no close_range") {
  NoCloseRange calls;
  const DifficultHost host;
  Spawned child(probe({"report"}), calls);
  check_clean(child);
}

TEST_CASE("a child gets the arguments, the environment and the folder that were asked for") {
  SpawnRequest request = probe({"report", "", "a b", "\xC3\xBC 'quoted' \"twice\" $HOME \\", "-x"});
  request.environment = {"A=1", "EMPTY=", "NAME=with = and spaces"};
  request.working_directory = "/proc";
  Spawned child(std::move(request));
  REQUIRE(child.wait_for_exit().code == 0);
  std::vector<std::string> arguments, environment;
  for (const auto& line : child.lines()) {
    if (line.starts_with("argument ")) arguments.push_back(line.substr(9));
    if (line.starts_with("env ")) environment.push_back(line.substr(4));
  }
  CHECK(arguments ==
        std::vector<std::string>{"", "a b", "\xC3\xBC 'quoted' \"twice\" $HOME \\", "-x"});
  CHECK(environment == std::vector<std::string>{"A=1", "EMPTY=", "NAME=with = and spaces"});
  CHECK(child.wait_for_line("directory ") == "/proc");
}

TEST_CASE("a child offers itself to the kernel's out-of-memory killer before the host") {
  SpawnRequest request = probe({"report"});
  request.oom_score_adj = 500;
  Spawned child(std::move(request));
  CHECK(child.wait_for_line("oom_score_adj ") == "500");
  REQUIRE(child.wait_for_exit().code == 0);
  CHECK(child.wait_for_line("descriptors ") == "0,1,2");
}

TEST_CASE("a child's stdin is at its end, and never the host's") {
  Spawned child(probe({"read-stdin"}));
  CHECK(child.wait_for_line("read ") == "0");
}

}  // namespace
}  // namespace llamavisor::process::testing
