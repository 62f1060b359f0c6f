#include "device/usable_cores.hpp"

#include "catch.hpp"
#include "fixture_root.hpp"

#include <fmt/format.h>

#include <sched.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

using llamavisor::device::usable_cores;
using llamavisor::device::test::FixtureRoot;

namespace {

/// The processors that this test may run on: the same call decides in the library.
std::vector<int> own_processors() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  REQUIRE(::sched_getaffinity(0, sizeof(mask), &mask) == 0);
  std::vector<int> processors;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &mask)) processors.push_back(cpu);
  return processors;
}

void write_siblings(const FixtureRoot& root, int cpu, std::string_view siblings) {
  root.write(fmt::format("sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", cpu),
             siblings);
}

/// A machine where each of our processors is a core of its own, in a cgroup with these limits.
int cores_in_group(std::string_view groups,
                   const std::vector<std::pair<std::string, std::string>>& limits) {
  FixtureRoot root;
  for (const int cpu : own_processors())
    write_siblings(root, cpu, fmt::format("{}\n", cpu));
  root.write("proc/self/cgroup", groups);
  for (const auto& [group, limit] : limits)
    root.write(fmt::format("sys/fs/cgroup/{}cpu.max", group), limit);
  return usable_cores(root.path());
}

int all() {
  return static_cast<int>(own_processors().size());
}

/// So many, or all where this machine has fewer.
int at_most(int cores) {
  return std::min(cores, all());
}

}  // namespace

TEST_CASE("cores: a processor without a known topology is a core", "[device]") {
  const FixtureRoot root;
  CHECK(usable_cores(root.path()) == all());
}

TEST_CASE("cores: hardware threads of one core are counted once", "[device]") {
  const auto processors = own_processors();
  const FixtureRoot one_core, pairs;
  for (std::size_t index = 0; index < processors.size(); ++index) {
    write_siblings(one_core, processors[index], "0-4095\n");
    write_siblings(pairs, processors[index], fmt::format("{},{}\n", index / 2, 512 + index / 2));
  }
  CHECK(usable_cores(one_core.path()) == 1);
  CHECK(usable_cores(pairs.path()) == (all() + 1) / 2);
}

TEST_CASE("cores: a processor that the process may not use is not counted", "[device]") {
  FixtureRoot root;
  const auto processors = own_processors();
  for (int cpu = 0; cpu <= processors.back() + 64; ++cpu)
    write_siblings(root, cpu, fmt::format("{}\n", cpu));
  CHECK(usable_cores(root.path()) == all());
}

TEST_CASE("cores: no quota is no limit", "[device]") {
  for (const char* limit : {"max 100000\n", "", "nonsense", "100000", "0 0", "-1 100000"}) {
    CAPTURE(limit);
    CHECK(cores_in_group("0::/a\n", {{"a/", limit}}) == all());
  }
}

TEST_CASE("cores: a quota is a limit, rounded down, and never below one", "[device]") {
  CHECK(cores_in_group("0::/a\n", {{"a/", "100000 100000\n"}}) == 1);
  CHECK(cores_in_group("0::/a\n", {{"a/", "199999 100000\n"}}) == 1);
  CHECK(cores_in_group("0::/a\n", {{"a/", "200000 100000\n"}}) == at_most(2));
  CHECK(cores_in_group("0::/a\n", {{"a/", "10000 100000\n"}}) == 1);
  CHECK(cores_in_group("0::/a\n", {{"a/", "99999999 1000\n"}}) == all());
}

TEST_CASE("cores: the tightest quota from the process's group up to the root holds", "[device]") {
  CHECK(cores_in_group("0::/a/b/c\n", {{"a/", "100000 100000\n"},
                                       {"a/b/", "max 100000\n"},
                                       {"a/b/c/", "400000 100000\n"}}) == 1);
  CHECK(cores_in_group("0::/a/b\n", {{"", "150000 100000\n"}, {"a/b/", "max 100000\n"}}) == 1);
  CHECK(cores_in_group("0::/\n", {{"", "100000 100000\n"}}) == 1);
  CHECK(cores_in_group("0::/a\n", {{"b/", "100000 100000\n"}}) == all());
}

TEST_CASE("cores: groups of version 1 say nothing here", "[device]") {
  CHECK(cores_in_group("4:cpu,cpuacct:/a\n", {{"a/", "100000 100000\n"}}) == all());
  CHECK(cores_in_group("4:cpu,cpuacct:/b\n0::/a\n", {{"a/", "100000 100000\n"}}) == 1);
}

TEST_CASE("cores: on this machine there is at least one", "[device]") {
  const int cores = usable_cores();
  CHECK(cores >= 1);
  CHECK(cores <= all());
}
