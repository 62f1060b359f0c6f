// A thousand requests, and a server that is killed again and again below them: is any of them lost,
// or its text doubled?
//
//   bench_kills MODEL DEVICE [REQUESTS KILLS]
//
// prints a table in Markdown. Four requests are in flight at all times. A server is killed at a
// seeded moment, but only after it has given a token to a request and lived two seconds: what comes
// sooner counts as a crash loop, and that is another promise. It ends when both numbers are
// reached. Engines are found as usual (LLAMAVISOR_ENGINE_PATH); real_servers.hpp has what the
// environment changes; the CPU engine has one thread where it says nothing.
#include <llamavisor/llamavisor.hpp>

#include "bench.hpp"
#include "event_log.hpp"
#include "processes.hpp"
#include "real_servers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace llamavisor;
using Clock = std::chrono::steady_clock;
using Kind = Event::Kind;

namespace {

constexpr int answer_tokens = 600;
constexpr int in_flight = 4;
constexpr std::size_t prompts = 20;
constexpr int first_seed = 20261201;

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

std::string prompt(std::size_t number) {
  return fmt::format("Tell me about llama number {}.", number % prompts);
}

GenerateOptions greedy() {
  return {.max_tokens = answer_tokens, .temperature = 0.0, .ignore_eos = true};
}

LoadOptions options(const std::string& device, const test::EventLog& log) {
  auto options = bench::real_server_options(device);  // once on the CPU, it stays there
  options.parallel = in_flight;
  if (options.threads == 0) options.threads = 1;
  options.on_event = log.handler();
  return options;
}

/// What became of the requests. Shared by the consumers.
struct Tally {
  int requests = 0, lost = 0, torn = 0;
  int resumed = 0, resumed_here = 0;  // in all; and from the CPU to the CPU
  int other_way = 0, other_unresumed = 0;
  double longest_gap = 0;
  std::vector<double> gaps;  // of those that were resumed: their longest wait for a token
  std::map<std::string, int> ways;
};

class Bench {
 public:
  Bench(std::string model, std::string device)
      : file_(std::move(model)), device_(std::move(device)) {}

  void run(int requests, int kills) {
    {  // The CPU's own answers, which nothing disturbs: what a GPU began is not compared.
      const auto calm = load_model(file_, options("cpu", {}));
      for (std::size_t number = 0; number < prompts; ++number)
        unbroken_.push_back(calm.generate(prompt(number), greedy()).result_or_throw().text);
      calm.close();
    }
    const auto model = load_model(file_, options(device_, log_));
    const auto start = Clock::now();
    std::vector<std::thread> consumers;
    for (int number = 0; number < in_flight; ++number)
      consumers.emplace_back([&] { consume(model, requests); });
    kill_often(model, kills);
    struck_enough_ = true;
    for (auto& consumer : consumers)
      consumer.join();
    const double seconds = ms_since(start) / 1000;
    const int generations = model.info().generation;
    const bool alive = model.state() == ModelState::ready;
    model.close();
    report(kills, generations, seconds);
    if (!alive) fmt::print("\nthe model was not ready at the end\n");
  }

 private:
  void consume(const TextModel& model, int requests) {
    while (true) {
      const auto number = next_++;
      if (number >= static_cast<std::size_t>(requests) && struck_enough_) return;
      const int generation = ready_;
      auto stream = model.generate(prompt(number), greedy());
      std::string text;
      double gap = 0;
      auto last = Clock::now();
      bool first = true;
      for (const auto& token : stream) {
        if (!first) gap = std::max(gap, ms_since(last));
        last = Clock::now();
        // Begun when this one was ready, and not yet resumed: the token is its own.
        if (std::exchange(first, false) && generation == ready_) served_ = generation;
        text += token.text;
      }
      note(number, stream.result(), text, gap);
    }
  }

  void note(std::size_t number, const GenerateResult& result, const std::string& text, double gap) {
    const auto& unbroken = unbroken_[number % prompts];
    const std::lock_guard lock(mutex_);
    ++tally_.requests;
    tally_.lost += result.failure || result.generated_tokens != answer_tokens;
    tally_.torn += result.text != text;
    tally_.longest_gap = std::max(tally_.longest_gap, gap);
    if (result.resumes.empty()) {
      tally_.other_unresumed += result.device == "cpu" && result.text != unbroken;
      return;
    }
    ++tally_.resumed;
    tally_.gaps.push_back(gap);
    for (const auto& resume : result.resumes)
      ++tally_.ways[std::string(name(resume.way))];
    if (device_ != "cpu" && result.resumes.front().generation == 2) return;  // began on the GPU
    ++tally_.resumed_here;
    tally_.other_way += result.text != unbroken;
  }

  void kill_often(const TextModel& model, int kills) {
    std::mt19937 random(first_seed);
    for (int kill = 1; kill <= kills; ++kill) {
      log_.wait_for(Kind::ready, kill);
      const auto since = Clock::now();
      const int generation = model.info().generation;
      ready_ = generation;
      const auto moment = std::chrono::milliseconds(2050 + static_cast<int>(random() % 400));
      test::wait_until("the server may be killed",
                       [&] { return served_ == generation && Clock::now() - since >= moment; });
      ready_ = 0;  // a request that begins now may be on either
      test::kill_and_wait(test::own_server(), SIGKILL);
    }
    log_.wait_for(Kind::ready, kills + 1);
  }

  void report(int kills, int generations, double seconds) const {
    std::string ways;
    for (const auto& [way, count] : tally_.ways)
      ways += fmt::format("{} {} ", count, way);
    fmt::print(
        "| device | requests | kills | generations | lost | pieces other than the text | "
        "resumed | ways | CPU to CPU, another text | not resumed, another text | longest "
        "gap ms | median gap of the resumed ms | s |\n");
    fmt::print("|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
    fmt::print(
        "| {} | {} | {} | {} | {} | {} | {} | {}| {} of {} | {} | {:.0f} | {:.0f} | {:.0f} |\n",
        device_, tally_.requests, kills, generations, tally_.lost, tally_.torn, tally_.resumed,
        ways, tally_.other_way, tally_.resumed_here, tally_.other_unresumed, tally_.longest_gap,
        bench::median(tally_.gaps), seconds);
  }

  std::string file_, device_;
  test::EventLog log_;
  std::vector<std::string> unbroken_;
  std::atomic<std::size_t> next_{0};
  std::atomic<int> ready_{0}, served_{0};
  std::atomic<bool> struck_enough_{false};
  std::mutex mutex_;
  Tally tally_;
};

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 3) {
    fmt::print(stderr, "usage: bench_kills MODEL DEVICE [REQUESTS KILLS]\n");
    return 2;
  }
  Bench(argv[1], argv[2])
      .run(argc > 3 ? std::atoi(argv[3]) : 1000, argc > 4 ? std::atoi(argv[4]) : 50);
} catch (const std::exception& error) {
  fmt::print(stderr, "bench_kills: {}\n", error.what());
  return 1;
}
