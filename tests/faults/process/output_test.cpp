#include "spawned.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <catch.hpp>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

namespace llamavisor::process::testing {
namespace {

TEST_CASE("stdout and stderr are told line by line, and never mixed within one") {
  Spawned child(probe({"both-streams"}));
  CHECK(child.wait_for_exit().code == 0);
  auto lines = child.lines();
  std::sort(lines.begin(), lines.end());
  CHECK(lines == std::vector<std::string>{"a line of stderr",
                                          "half of a line of stdout, and the rest",
                                          "no newline at the end"});
  std::vector<std::string> last;
  child.call([&](ChildProcess& process) { last = process.last_lines(100); });
  std::sort(last.begin(), last.end());
  CHECK(last == lines);
  child.call([&](ChildProcess& process) { last = process.last_lines(1); });
  CHECK(last.size() == 1);
}

// A runtime thread that was busy: nothing of the output is read before the end is seen.
class LateReads : public SystemCalls {
 public:
  ssize_t read(int descriptor, void* buffer, std::size_t size) override {
    if (ended_) return SystemCalls::read(descriptor, buffer, size);
    errno = EAGAIN;
    return -1;
  }
  int waitid(idtype_t kind, id_t id, siginfo_t& info, int options) override {
    const int result = SystemCalls::waitid(kind, id, info, options);
    if (result == 0 && info.si_pid != 0) ended_ = true;
    return result;
  }

 private:
  bool ended_ = false;
};

TEST_CASE("what a child wrote before its end is told, even where nothing was read until then") {
  LateReads calls;
  Spawned child(probe({"both-streams"}), calls);
  CHECK(child.wait_for_exit().code == 0);
  auto lines = child.lines();
  std::sort(lines.begin(), lines.end());
  CHECK(lines == std::vector<std::string>{"a line of stderr",
                                          "half of a line of stdout, and the rest",
                                          "no newline at the end"});
}

TEST_CASE("a program that only prints dots is seen to live") {
  Spawned child(probe({"dots"}));
  child.wait_for_output();
  wait_until("the dots can be read", [&] {
    std::vector<std::string> last;
    child.call([&](ChildProcess& process) { last = process.last_lines(5); });
    return last == std::vector<std::string>{"...."};
  });
  CHECK(child.lines().empty());
}

// A sanitizer keeps memory that was freed.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool sanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif
#else
constexpr bool sanitized = false;
#endif

std::uint64_t own_memory() {
  std::uint64_t total = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

// The whole gigabyte where there is time for it.
std::string flood_size() {
  return std::getenv("LLAMAVISOR_LONG") != nullptr ? "1024" : "100";
}

void check_flood(const std::string& kind) {
  const auto runtime = Runtime::shared();
  std::atomic<std::size_t> bytes{0}, lines{0};
  std::atomic<bool> ended{false};
  std::shared_ptr<ChildProcess> child;
  const std::uint64_t before = own_memory();
  on_runtime(*runtime, [&] {
    ChildProcess::Handlers handlers;
    handlers.on_line = [&](std::string_view line) {
      bytes += line.size();
      ++lines;
    };
    handlers.on_exit = [&](ExitStatus) { ended = true; };
    SpawnError error;
    child = ChildProcess::spawn(runtime, probe({"flood", flood_size(), kind}), handlers, error);
  });
  // The runtime thread serves others all the while.
  std::uint64_t most = 0;
  std::size_t served = 0;
  wait_until("the flood has ended", [&] {
    on_runtime(*runtime, [] {});
    ++served;
    most = std::max(most, own_memory());
    return ended.load();
  });
  std::vector<std::string> last;
  on_runtime(*runtime, [&] {
    last = child->last_lines(1);
    child.reset();
  });
  CHECK(last == std::vector<std::string>{"last"});
  CHECK(served > 10);
  CHECK(bytes > (std::stoul(flood_size()) << 20) * 98 / 100);
  if (!sanitized) CHECK(most < before + (std::uint64_t{5} << 20));
}

TEST_CASE("a flood of lines on stderr neither stalls the child nor grows the host") {
  check_flood("lines");
}

TEST_CASE("one endless line on stderr neither stalls the child nor grows the host") {
  check_flood("endless");
}

}  // namespace
}  // namespace llamavisor::process::testing
