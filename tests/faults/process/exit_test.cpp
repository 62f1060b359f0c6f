#include "process/exit_status.hpp"
#include "spawned.hpp"

#include <signal.h>

#include <catch.hpp>

namespace llamavisor::process::testing {

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

}  // namespace llamavisor::process::testing
