// How long failing over takes, and whether anything is lost: on real servers, with any device.
//
//   bench_failover MODEL DEVICE [ROUNDS]
//
// prints a table in Markdown. Engines are found as usual (LLAMAVISOR_ENGINE_PATH); BENCH_THREADS
// sets the threads of the CPU engine, BENCH_CHILD_ENVIRONMENT="NAME=value" adds a variable to the
// servers', BENCH_HANG adds a hang at the default limits.
#include <llamavisor/llamavisor.hpp>

#include "bench.hpp"
#include "event_log.hpp"
#include "processes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

using namespace llamavisor;
using Clock = std::chrono::steady_clock;

namespace {

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

/// What one kind of failure cost, over some rounds.
struct Outcome {
  std::vector<double> gaps;    // ms from the fault to the next token
  std::vector<double> spawns;  // ms from the fault to the process that takes over, where one starts
  int lost = 0;                // streams that ended otherwise than well
  int equal = 0;               // whose text equals that of the unbroken run
  int rounds = 0;
  std::string ways;
};

struct Bench {
  std::string model;
  std::string device;
  int rounds;

  LoadOptions options(bool standby) const {
    LoadOptions options{.device = device, .context_length = 2048};
    options.parallel = 8;
    options.standby = standby;
    options.recovery.cool_down = {};
    if (const char* threads = std::getenv("BENCH_THREADS")) options.threads = std::atoi(threads);
    options.server_args = {"-fa", "off"};
    if (const char* added = std::getenv("BENCH_CHILD_ENVIRONMENT")) {
      const std::string variable = added;
      const auto equals = variable.find('=');
      options.environment.emplace_back(variable.substr(0, equals), variable.substr(equals + 1));
    }
    return options;
  }

  static GenerateOptions greedy() {
    return {.max_tokens = 160, .temperature = 0.0, .ignore_eos = true};
  }

  /// Loads, strikes after `at` tokens, and reads to the end.
  void round(Outcome& outcome, bool standby, int at,
             const std::function<void(pid_t)>& strike) const {
    const test::EventLog log;
    auto with_log = options(standby);
    with_log.on_event = log.handler();
    auto loaded = load_model(model, with_log);
    if (standby) log.wait_for(Event::Kind::started, 2);
    const std::string prompt = "Tell me about llamas.";
    const std::string whole = loaded.generate(prompt, greedy()).result().text;
    const pid_t victim = test::own_servers().front();
    auto stream = loaded.generate(prompt, greedy());
    int count = 0;
    Clock::time_point struck;
    std::chrono::system_clock::time_point struck_at;  // the clock of events
    bool waiting = false;
    for (const auto& token : stream) {
      if (waiting && !token.text.empty()) {
        outcome.gaps.push_back(ms_since(struck));
        waiting = false;
      }
      if (++count == at) {
        struck = Clock::now();
        struck_at = std::chrono::system_clock::now();
        strike(victim);
        waiting = true;
      }
    }
    if (!standby) {
      const std::chrono::duration<double, std::milli> spawn =
          log.wait_for(Event::Kind::started, 2).time - struck_at;
      outcome.spawns.push_back(spawn.count());
    }
    const auto& result = stream.result();
    ++outcome.rounds;
    outcome.lost += result.failure.has_value() || result.generated_tokens != 160;
    outcome.equal += result.text == whole;
    for (const auto& resume : result.resumes) {
      const std::string way(name(resume.way));
      if (outcome.ways.find(way) == std::string::npos) outcome.ways += way + " ";
    }
    loaded.close();
  }

  void report(const char* what, bool standby, const std::function<void(pid_t)>& strike) const {
    Outcome outcome;
    for (int number = 0; number < rounds; ++number)
      round(outcome, standby, 5 + 13 * number, strike);
    fmt::print(
        "| {} | {} | {} | {:.0f} | {:.0f} | {} | {} of {} | {}|\n", what, standby ? "warm" : "cold",
        outcome.spawns.empty() ? "-"
                               : fmt::format("{:.1f}", *std::max_element(outcome.spawns.begin(),
                                                                         outcome.spawns.end())),
        bench::median(outcome.gaps),
        outcome.gaps.empty() ? 0 : *std::max_element(outcome.gaps.begin(), outcome.gaps.end()),
        outcome.lost, outcome.equal, outcome.rounds, outcome.ways);
    std::fflush(stdout);
  }
};

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 3) {
    fmt::print(stderr, "usage: bench_failover MODEL DEVICE [ROUNDS]\n");
    return 2;
  }
  const Bench bench{argv[1], argv[2], argc > 3 ? std::atoi(argv[3]) : 5};
  const auto send = [](int signal) { return [signal](pid_t pid) { ::kill(pid, signal); }; };
  fmt::print(
      "| fault | CPU server | to the new process, worst ms | to the next token, median ms | worst "
      "ms | lost | equal text | ways "
      "|\n");
  fmt::print("|---|---|---|---|---|---|---|---|\n");
  bench.report("SIGKILL", false, send(SIGKILL));
  if (bench.device != "cpu") bench.report("SIGKILL", true, send(SIGKILL));
  bench.report("SIGSEGV", false, send(SIGSEGV));
  bench.report("SIGABRT", false, send(SIGABRT));
  if (std::getenv("BENCH_HANG")) {
    Bench once = bench;
    once.rounds = 1;
    once.report("SIGSTOP (a hang, default limits)", false, send(SIGSTOP));
  }
} catch (const Error& error) {
  fmt::print(stderr, "bench_failover: {}: {}\n", name(error.code()), error.what());
  for (const auto& line : error.failure().last_lines)
    fmt::print(stderr, "  {}\n", line);
  return 1;
}
