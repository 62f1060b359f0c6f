// Measures what the promises about processes say: what a spawn costs, whatever the host's size, and
// how soon an exit is noticed. Prints a table; asserts nothing.
//
// bench_process [GiB to touch, 4] [spawns, 200] [exits, 200], or bench_process --smoke
#include "process/child_process.hpp"
#include "runtime/runtime.hpp"

#include <signal.h>
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace llamavisor;
using namespace llamavisor::process;
using Clock = std::chrono::steady_clock;

double milliseconds(Clock::duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

void on_runtime(Runtime& runtime, const std::function<void()>& task) {
  const auto done = std::make_shared<std::promise<void>>();
  runtime.post([&task, done] {
    task();
    done->set_value();
  });
  done->get_future().wait();
}

void print(const char* what, std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) {
    return values[std::min(values.size() - 1, static_cast<std::size_t>(share * values.size()))];
  };
  std::printf("| %-44s | %5zu | %8.3f | %8.3f | %8.3f |\n", what, values.size(), at(0.50), at(0.99),
              values.back());
}

struct Child {
  std::shared_ptr<ChildProcess> process;
  std::promise<void> ended;
  Clock::time_point noticed;

  // How long the call took.
  double spawn(const std::shared_ptr<Runtime>& runtime, std::vector<std::string> command) {
    double took = 0;
    on_runtime(*runtime, [&] {
      ChildProcess::Handlers handlers;
      handlers.on_exit = [this](ExitStatus) {
        noticed = Clock::now();
        ended.set_value();
      };
      SpawnRequest request;
      request.command = std::move(command);
      SpawnError error;
      const auto start = Clock::now();
      process = ChildProcess::spawn(runtime, request, std::move(handlers), error);
      took = milliseconds(Clock::now() - start);
      if (!process) {
        std::fprintf(stderr, "%s: %s\n", error.step.c_str(), std::strerror(error.error));
        std::exit(1);
      }
    });
    return took;
  }
  void drop(Runtime& runtime) {
    on_runtime(runtime, [this] { process.reset(); });
  }
};

std::vector<double> spawn_cost(const std::shared_ptr<Runtime>& runtime, int count) {
  std::vector<double> costs;
  for (int number = 0; number < count; ++number) {
    Child child;
    costs.push_back(child.spawn(runtime, {"/bin/true"}));
    child.ended.get_future().wait();
    child.drop(*runtime);
  }
  return costs;
}

// From our kill to the handler: the process's own end is in it.
std::vector<double> exit_latency(const std::shared_ptr<Runtime>& runtime, int count) {
  std::vector<double> latencies;
  for (int number = 0; number < count; ++number) {
    Child child;
    child.spawn(runtime, {"/bin/sleep", "600"});
    const auto killed = Clock::now();
    ::kill(static_cast<pid_t>(child.process->pid()), SIGKILL);
    child.ended.get_future().wait();
    latencies.push_back(milliseconds(child.noticed - killed));
    child.drop(*runtime);
  }
  return latencies;
}

// Never given back: the host keeps its size.
void touch(std::size_t bytes) {
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    std::perror("mmap");
    std::exit(1);
  }
  // Small pages, as most hosts have: their tables are what a fork would copy.
  ::madvise(memory, bytes, MADV_NOHUGEPAGE);
  for (std::size_t at = 0; at < bytes; at += 4096)
    static_cast<char*>(memory)[at] = 1;
}

}  // namespace

int main(int argc, char** argv) {
  const bool smoke = argc > 1 && std::string_view(argv[1]) == "--smoke";
  const std::size_t gibibytes = smoke ? 0 : argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 4;
  const int spawns = smoke ? 5 : argc > 2 ? std::atoi(argv[2]) : 200;
  const int exits = smoke ? 5 : argc > 3 ? std::atoi(argv[3]) : 200;
  const auto runtime = Runtime::shared();
  std::printf("| %-44s | count | p50 (ms) | p99 (ms) | max (ms) |\n", "what");
  std::printf("|---|---:|---:|---:|---:|\n");
  spawn_cost(runtime, 20);  // page cache, first allocations
  print("spawn, empty host", spawn_cost(runtime, spawns));
  print("SIGKILL to on_exit", exit_latency(runtime, exits));
  const std::string name = "spawn, host with " + std::to_string(gibibytes) + " GiB touched";
  if (gibibytes > 0) {
    touch(gibibytes << 30);
    print(name.c_str(), spawn_cost(runtime, spawns));
    print("SIGKILL to on_exit, same host", exit_latency(runtime, exits));
  }
  return 0;
}
