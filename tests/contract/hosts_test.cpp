// Hosts that die, hosts beside each other, and what a guest library leaves alone.
#include "setup.hpp"
#include "test_paths.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch.hpp>
#include <stdexcept>
#include <string>

namespace llamavisor::contract {
namespace {

/// A host process; what it says is read line by line.
class Host {
 public:
  explicit Host(const std::string& mode) {
    leave_the_users_state_alone();
    const auto program = test::program("contract_host");
    const auto engine = cpu_engine().string(), model = ascii_model().string();
    const char* arguments[] = {program.c_str(), mode.c_str(), engine.c_str(), model.c_str(),
                               nullptr};
    int output[2], input[2];
    if (::pipe2(output, O_CLOEXEC) != 0 || ::pipe2(input, O_CLOEXEC) != 0) {
      throw std::runtime_error("no pipe");
    }
    process_ = ::fork();
    if (process_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::dup2(input[0], 0);
      ::dup2(output[1], 1);
      ::execv(arguments[0], const_cast<char**>(arguments));
      ::_exit(127);
    }
    ::close(output[1]);
    ::close(input[0]);
    output_ = output[0];
    input_ = input[1];
  }
  ~Host() {
    if (process_ > 0) {
      ::kill(process_, SIGKILL);
      ::waitpid(process_, nullptr, 0);
    }
    ::close(output_);
    if (input_ >= 0) ::close(input_);
  }
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  pid_t process() const { return process_; }
  pid_t server() const {
    const auto servers = servers_of(process_);
    if (servers.size() != 1) throw std::runtime_error("the host has no server, or several");
    return servers.front();
  }

  std::string line() {
    std::string text;
    while (true) {
      pollfd entry{output_, POLLIN, 0};
      if (::poll(&entry, 1, 120'000) <= 0) throw std::runtime_error("the host says nothing");
      char c = 0;
      if (::read(output_, &c, 1) != 1) throw std::runtime_error("the host has ended: " + text);
      if (c == '\n') return text;
      text += c;
    }
  }

  void ask() const {
    if (::write(input_, "x\n", 2) != 2) throw std::runtime_error("the host is gone");
  }
  void end_input() {
    ::close(input_);
    input_ = -1;
  }

  void kill() {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
    process_ = -1;
  }

 private:
  pid_t process_ = -1;
  int output_ = -1, input_ = -1;
};

TEST_CASE("the server of a host that is killed is gone, also while loading") {
  {
    Host host("ready");
    REQUIRE(host.line() == "ready");
    const auto server = host.server();
    host.kill();
    wait_until_ended(server);
  }
  {
    Host host("loading");
    REQUIRE(host.line() == "started");
    const auto server = host.server();
    host.kill();
    wait_until_ended(server);
  }
}

TEST_CASE("a server outlives the thread that loaded it") {
  Host host("thread_ends");
  REQUIRE(host.line() == "ready");
  CHECK(host.line() == "answered");
}

TEST_CASE("of two hosts each ends only its own server") {
  Host first("answers"), second("answers");
  REQUIRE(first.line() == "ready");
  REQUIRE(second.line() == "ready");
  const auto of_first = first.server(), of_second = second.server();
  first.end_input();
  REQUIRE(first.line() == "closed");
  CHECK(has_ended(of_first));
  CHECK_FALSE(has_ended(of_second));
  second.ask();
  CHECK(second.line() == "answer 1");
  // And the death of one's server is nothing to the other.
  Host third("answers");
  REQUIRE(third.line() == "ready");
  kill_and_wait(of_second, SIGKILL);
  third.ask();
  CHECK(third.line() == "answer 1");
  second.ask();
  CHECK(second.line() == "answer 2");
}

TEST_CASE("the exit status of the host's own children stays theirs") {
  Host host("own_children");
  CHECK(host.line() == "42 43");
}

TEST_CASE("the host's signal dispositions are untouched by a server's death") {
  Host host("signals");
  REQUIRE(host.line() == "ready");
  ::kill(host.server(), SIGKILL);
  CHECK(host.line() == "untouched answered");
}

TEST_CASE("after fork() the handles are dead in the child, and alive in the parent") {
  Host host("forks");
  CHECK(host.line() == "7 1");
}

TEST_CASE("fifty loads and closes leave no process and no descriptor behind") {
  leave_the_users_state_alone();
  const auto descriptors = open_descriptors();
  for (int round = 0; round < rounds(10, 50); ++round) {
    auto options = cpu_options();
    if (round % 5 == 4) {
      options.server_args = {"--no-such-flag"};
      CHECK(thrown_by([&] { load_model(ascii_model(), options); }).code == errc::load_failed);
      continue;
    }
    const auto model = load_model(ascii_model(), options);
    serves(model);
  }
  CHECK(own_children() == 0);
  wait_until("the descriptors are closed", [&] { return open_descriptors() == descriptors; });
}

}  // namespace
}  // namespace llamavisor::contract
