#include "spawned.hpp"
#include "temporary_folder.hpp"
#include "test_paths.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <catch.hpp>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace llamavisor::process::testing {
namespace {

namespace fs = std::filesystem;

SpawnRequest run(std::vector<std::string> command) {
  SpawnRequest request;
  request.command = std::move(command);
  return request;
}

// A failed spawn says which step it was and why, and leaves nothing behind.
void check_failure(SpawnRequest request, const std::string& step, int error) {
  const auto runtime = Runtime::shared();
  const auto before = settled_belongings(runtime);
  for (int round = 0; round < 3; ++round) {
    Spawned child(request, SystemCalls::real(), runtime);
    CHECK_FALSE(child.started());
    CHECK(child.error().step == step);
    CHECK(child.error().error == error);
    CHECK(child.exits() == 0);
  }
  CHECK(belongings(runtime) == before);
}

TEST_CASE("a program that does not exist is said to be missing") {
  check_failure(run({"/nonexistent/llama-server"}), "execve", ENOENT);
}

TEST_CASE("a program whose interpreter has gone is said to be missing") {
  const TemporaryFolder folder;
  const auto script = folder.executable("moved", "#!/nonexistent/interpreter\n");
  check_failure(run({script}), "execve", ENOENT);
}

TEST_CASE("a file without the right to be run, and a folder, are refused") {
  const TemporaryFolder folder;
  const auto file = folder.executable("plain", "#!/bin/sh\n");
  fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
  check_failure(run({file}), "execve", EACCES);
  check_failure(run({folder.path()}), "execve", EACCES);
}

TEST_CASE("a file that is no program is refused, and no shell is asked") {
  const TemporaryFolder folder;
  check_failure(run({folder.executable("text", "echo hello\n")}), "execve", ENOEXEC);
  check_failure(run({folder.executable("empty", "")}), "execve", ENOEXEC);
}

TEST_CASE("a program that is being written is refused") {
  const TemporaryFolder folder;
  const auto copy = folder.path() / "copy";
  fs::copy_file(test::program("child_probe"), copy);
  const int writer = ::open(copy.c_str(), O_WRONLY | O_CLOEXEC);
  REQUIRE(writer >= 0);
  check_failure(run({copy, "exit", "0"}), "execve", ETXTBSY);
  ::close(writer);
}

TEST_CASE("a working folder that does not exist is said to be the reason") {
  SpawnRequest request = probe({"exit", "0"});
  request.working_directory = "/nonexistent/folder";
  check_failure(std::move(request), "chdir", ENOENT);
}

TEST_CASE("a command line that is longer than the system takes is refused") {
  check_failure(probe({"exit", std::string(std::size_t{4} << 20, '0')}), "execve", E2BIG);
}

TEST_CASE("a command that cannot be passed on as it is, is refused before anything is started") {
  check_failure(run({}), "command", EINVAL);
  check_failure(run({""}), "command", EINVAL);
  check_failure(run({"child_probe"}), "command", EINVAL);
  check_failure(probe({std::string("cut\0here", 8)}), "command", EINVAL);
  SpawnRequest request = probe({"exit", "0"});
  request.environment = {std::string("A=cut\0here", 10)};
  check_failure(std::move(request), "command", EINVAL);
}

TEST_CASE("names with spaces, quotes and other scripts work") {
  const TemporaryFolder folder;
  const auto inner = folder.path() / "a b ' \" \xC3\xBC \xE6\xA8\xA1\xE5\x9E\x8B";
  fs::create_directory(inner);
  const auto program = inner / "the program";
  fs::copy_file(test::program("child_probe"), program);
  SpawnRequest request = run({program, "report"});
  request.working_directory = inner;
  Spawned child(std::move(request));
  REQUIRE(child.started());
  CHECK(child.wait_for_line("directory ") == inner.string());
  CHECK(child.wait_for_exit().code == 0);
}

}  // namespace
}  // namespace llamavisor::process::testing
