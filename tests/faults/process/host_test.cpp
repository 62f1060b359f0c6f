#include "spawned.hpp"
#include "test_paths.hpp"

#include <signal.h>

#include <catch.hpp>
#include <string>

namespace llamavisor::process::testing {
namespace {

SpawnRequest host(const std::string& mode) {
  SpawnRequest request;
  request.command = {test::program("host_probe"), mode, test::program("child_probe")};
  return request;
}

TEST_CASE("a child ends with a host that is killed") {
  Spawned killed(host("wait-for-ever"));
  const auto child = std::stoll(killed.wait_for_line("child "));
  killed.wait_for_line("ready");
  CHECK_FALSE(has_ended(child));
  // The child has a group of its own: nothing but the kernel's word ends it.
  killed.kill();
  CHECK(killed.wait_for_exit().signal == SIGKILL);
  wait_until("the child has ended", [&] { return has_ended(child); });
}

TEST_CASE("a child ends with a host whose main returns") {
  Spawned returned(host("returns"));
  const auto child = std::stoll(returned.wait_for_line("child "));
  CHECK(returned.wait_for_exit().code == 0);
  wait_until("the child has ended", [&] { return has_ended(child); });
}

TEST_CASE("a child outlives the thread that asked for it") {
  Spawned living(host("thread-ends"));
  const auto child = std::stoll(living.wait_for_line("child "));
  living.wait_for_line("pong");  // sent after the thread was gone
  CHECK_FALSE(has_ended(child));
}

TEST_CASE("a child starts clean where the host has closed its own standard streams") {
  Spawned bare(host("closed-descriptors"));
  CHECK(bare.wait_for_line("descriptors ") == "0,1,2");
  CHECK(bare.wait_for_line("stdin ") == "/dev/null");
  CHECK(bare.wait_for_exit().code == 0);
}

TEST_CASE("a copy of the host from fork() ends without a word, and leaves the child alone") {
  Spawned forked(host("forks"));
  const auto child = std::stoll(forked.wait_for_line("child "));
  CHECK(forked.wait_for_line("copy ended ") == "0");
  forked.wait_for_line("pong");
  CHECK_FALSE(has_ended(child));
}

}  // namespace
}  // namespace llamavisor::process::testing
