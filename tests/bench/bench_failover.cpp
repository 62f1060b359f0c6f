// How long failing over takes, and whether anything is lost: on real servers, with any device.
//
//   bench_failover MODEL DEVICE [ROUNDS [FAULT...]]
//
// prints a table in Markdown. A server is struck at a seeded moment of its answer, a fresh one each
// round. FAULT is SIGKILL, standby (SIGKILL with a warm CPU server), SIGSEGV, SIGABRT, and, at the
// default limits of a hang, SIGSTOP, frozen (the main thread alone, in the answer) and
// frozen-prompt (the same in the prompt). Without names: the first four. Engines are found as usual
// (LLAMAVISOR_ENGINE_PATH); real_servers.hpp has what the environment changes.
#include <llamavisor/llamavisor.hpp>

#include "bench.hpp"
#include "event_log.hpp"
#include "processes.hpp"
#include "real_servers.hpp"
#include "struck_answer.hpp"
#include "temporary_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>
#include <vector>

using namespace llamavisor;
using bench::Fault;
using Kind = Event::Kind;

namespace {

constexpr int first_seed = 20261201;

constexpr std::array<Fault, 7> faults{{{"SIGKILL", SIGKILL},
                                       {"standby", SIGKILL, true},
                                       {"SIGSEGV", SIGSEGV},
                                       {"SIGABRT", SIGABRT},
                                       {"SIGSTOP", SIGSTOP},
                                       {"frozen"},
                                       {"frozen-prompt", 0, false, true}}};
constexpr std::size_t usual_faults = 4;

/// What one kind of failure cost, over some rounds.
struct Outcome {
  std::vector<double> gaps;    // ms from the fault to the token that it delayed
  std::vector<double> spawns;  // ms from the fault to the process that takes over, where one starts
  int lost = 0;                // streams that ended otherwise than well
  int torn = 0;       // whose pieces are not the text, or which had changed before the seam
  int equal = 0;      // whose text equals that of the unbroken run
  int cpu_equal = 0;  // rounds whose unbroken run on the CPU says the same
  int rounds = 0;
  std::string ways;
};

void await_standby(const test::EventLog& log) {
  log.wait_for(Kind::started, 2);
  const pid_t standby = test::own_servers().back();
  test::wait_until("the standby has loaded", [&] { return bench::is_loaded(standby); });
}

class Bench {
 public:
  Bench(std::string model, std::string device, int rounds)
      : model_(std::move(model)), device_(std::move(device)), rounds_(rounds) {}

  void report(const Fault& fault) {
    Outcome outcome;
    const bool hangs = fault.signal == 0 || fault.signal == SIGSTOP;
    for (int number = 0; number < (hangs ? 1 : rounds_); ++number)
      round(outcome, fault, number);
    const auto worst = [](const std::vector<double>& times) {
      return times.empty() ? std::string("-")
                           : fmt::format("{:.1f}", *std::max_element(times.begin(), times.end()));
    };
    fmt::print("| {} | {} | {} | {:.0f} | {} | {} | {} | {} of {} | {} | {}|\n", fault.name,
               fault.standby ? "warm" : "cold", worst(outcome.spawns), bench::median(outcome.gaps),
               worst(outcome.gaps), outcome.lost, outcome.torn, outcome.equal, outcome.rounds,
               outcome.cpu_equal, outcome.ways);
    std::fflush(stdout);
  }

 private:
  LoadOptions options(const Fault& fault) const {
    auto options = bench::real_server_options(device_);
    options.parallel = 8;
    options.standby = fault.standby;
    if (fault.in_prompt) {  // long enough to be struck in its middle
      options.context_length = 4096;
      options.parallel = 1;
      options.server_args.insert(options.server_args.end(), {"-b", "32", "-ub", "32"});
    }
    return options;
  }

  /// The same computation each time: a cached prompt would round otherwise.
  static GenerateOptions greedy() {
    return {.max_tokens = bench::struck_tokens,
            .temperature = 0.0,
            .ignore_eos = true,
            .cache_prompt = false};
  }

  /// Loads, strikes in the middle of an answer, and reads to the end.
  void round(Outcome& outcome, const Fault& fault, int number) {
    const test::TemporaryFolder state;  // a device that hung is quarantined there
    const test::ScopedVariable state_home("XDG_STATE_HOME", state.path().string());
    const test::EventLog log;
    auto with_log = options(fault);
    with_log.on_event = log.handler();
    const auto loaded = load_model(model_, with_log);
    if (fault.standby) await_standby(log);  // it gets its first token in the run below
    const auto prompt = fault.in_prompt ? std::string(3000, 'p')
                                        : fmt::format("Tell me about llama number {}.", number);
    const std::string whole = loaded.generate(prompt, greedy()).result().text;
    bench::StruckAnswer answer(fault, random_);
    answer.read(loaded.generate(prompt, greedy()), test::own_servers().front());
    if (!fault.standby) {
      const auto spawned = log.wait_for(Kind::started, 2).time - answer.struck_at;
      outcome.spawns.push_back(std::chrono::duration<double, std::milli>(spawned).count());
    }
    const auto& result = answer.result;
    const auto seam = result.resumes.empty() ? 0 : result.resumes.front().text_bytes;
    outcome.gaps.push_back(answer.gap);
    ++outcome.rounds;
    outcome.lost += result.failure.has_value() || result.generated_tokens != bench::struck_tokens;
    outcome.torn += answer.text != result.text || result.text.compare(0, seam, whole, 0, seam) != 0;
    outcome.equal += result.text == whole;
    outcome.cpu_equal += loaded.generate(prompt, greedy()).result().text == whole;
    for (const auto& resume : result.resumes) {
      const std::string way(name(resume.way));
      if (outcome.ways.find(way) == std::string::npos) outcome.ways += way + " ";
    }
    loaded.close();
  }

  std::string model_, device_;
  int rounds_;
  std::mt19937 random_{first_seed};
};

std::vector<Fault> chosen(int count, char** names) {
  std::vector<Fault> list(faults.begin(), faults.begin() + (count > 0 ? 0 : usual_faults));
  for (int number = 0; number < count; ++number) {
    const auto found = std::find_if(faults.begin(), faults.end(), [&](const Fault& fault) {
      return fault.name == names[number];
    });
    if (found == faults.end()) {
      throw Error(errc::invalid_option, fmt::format("there is no fault {}", names[number]));
    }
    list.push_back(*found);
  }
  return list;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 3) {
    fmt::print(stderr, "usage: bench_failover MODEL DEVICE [ROUNDS [FAULT...]]\n");
    return 2;
  }
  const auto wanted = chosen(std::max(argc - 4, 0), argv + 4);
  Bench bench(argv[1], argv[2], argc > 3 ? std::atoi(argv[3]) : 5);
  fmt::print(
      "| fault | CPU server | to the new process, worst ms | to the next token, median ms | worst "
      "ms | lost | torn | equal text | unbroken on the CPU, equal text | ways |\n");
  fmt::print("|---|---|---|---|---|---|---|---|---|---|\n");
  for (const auto& fault : wanted) {
    if (!fault.standby || std::string_view(argv[2]) != "cpu") bench.report(fault);
  }
} catch (const Error& error) {
  fmt::print(stderr, "bench_failover: {}: {}\n", name(error.code()), error.what());
  for (const auto& line : error.failure().last_lines)
    fmt::print(stderr, "  {}\n", line);
  return 1;
} catch (const std::exception& error) {
  fmt::print(stderr, "bench_failover: {}\n", error.what());
  return 1;
}
