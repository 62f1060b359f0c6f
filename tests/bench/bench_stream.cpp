// What the library costs: its streams against those of a minimal client, on the same server, in the
// same run, turn by turn.
#include <llamavisor/llamavisor.hpp>

#include "bench.hpp"
#include "http/exchange.hpp"
#include "http/request_text.hpp"
#include "raw_client.hpp"
#include "server/completion_request.hpp"
#include "server_child.hpp"

#include <fmt/format.h>

#include <stdlib.h>
#include <sys/resource.h>

#include <barrier>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

using namespace llamavisor;
using namespace llamavisor::bench;

namespace {

namespace fs = std::filesystem;

struct StreamLoad {
  int tokens = 200;
  int rounds = 60;
  int warm_up = 5;
  std::vector<int> streams{1, 4, 16};
};

/// One round of one client: all its streams at once.
struct Round {
  double tokens_per_second = 0;
  double first_token_ms = 0;    ///< the median stream's
  double cpu_us_per_token = 0;  ///< of this process: the client alone
};

/// CPU time of this process so far, in microseconds.
double cpu_us() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto us = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_usec);
  };
  return us(usage.ru_utime) + us(usage.ru_stime);
}

class Folder {
 public:
  Folder() {
    auto name = (fs::temp_directory_path() / "llamavisor-bench-XXXXXX").string();
    if (!::mkdtemp(name.data())) throw std::runtime_error("cannot make " + name);
    path_ = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { fs::remove_all(path_); }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

Round measure(const std::function<std::vector<StreamTimes>()>& ask, int tokens) {
  const double cpu_before = cpu_us();
  const auto answers = ask();
  const double cpu = cpu_us() - cpu_before;
  auto begin = answers.front().first_token;
  auto end = answers.front().end;
  std::vector<double> first;
  for (const auto& answer : answers) {
    begin = std::min(begin, answer.first_token);
    end = std::max(end, answer.end);
    first.push_back(
        std::chrono::duration<double, std::milli>(answer.first_token - answer.asked).count());
  }
  const double seconds = std::chrono::duration<double>(end - begin).count();
  const double all_tokens = static_cast<double>(answers.size()) * tokens;
  return {.tokens_per_second = (all_tokens - 1) / seconds,  // after the first of all
          .first_token_ms = median(first),
          .cpu_us_per_token = cpu / all_tokens};
}

/// Each stream has a thread of its own, as in a host; the threads wait for each other first.
std::vector<StreamTimes> ask_library(const TextModel& model, const std::vector<TokenId>& prompt,
                                     const GenerateOptions& options, int streams) {
  std::vector<StreamTimes> answers(static_cast<std::size_t>(streams));
  std::barrier start(streams);
  std::vector<std::string> failures(answers.size());
  const auto ask = [&](std::size_t index) {
    auto& answer = answers[index];
    start.arrive_and_wait();
    answer.asked = Clock::now();
    auto stream = model.generate(prompt, options);
    if (stream.next()) answer.first_token = Clock::now();
    while (stream.next()) {
    }
    answer.end = Clock::now();
    const auto& result = stream.result();
    if (result.failure) failures[index] = result.failure->message;
    if (result.generated_tokens != options.max_tokens) failures[index] += " (not all tokens came)";
  };
  std::vector<std::thread> threads;
  for (std::size_t index = 1; index < answers.size(); ++index)
    threads.emplace_back(ask, index);
  ask(0);
  for (auto& thread : threads)
    thread.join();
  const auto failure = std::accumulate(failures.begin(), failures.end(), std::string());
  if (!failure.empty()) throw std::runtime_error("a stream failed: " + failure);
  return answers;
}

void compare(int streams, const StreamLoad& plan, const std::function<Round(int)>& raw,
             const std::function<Round(int)>& library) {
  std::vector<Round> theirs, ours;
  for (int round = -plan.warm_up; round < plan.rounds; ++round) {
    // Turn by turn, and each first in turn: a machine that slows down slows both.
    const bool raw_leads = round % 2 == 0;
    const auto leader = raw_leads ? raw(streams) : library(streams);
    const auto follower = raw_leads ? library(streams) : raw(streams);
    if (round < 0) continue;
    theirs.push_back(raw_leads ? leader : follower);
    ours.push_back(raw_leads ? follower : leader);
  }
  const auto middle = [&](const auto& value) {
    std::vector<double> values;
    for (std::size_t round = 0; round < ours.size(); ++round)
      values.push_back(value(theirs[round], ours[round]));
    return median(values);
  };
  fmt::print("| {} | {:.0f} | {:.0f} | {:.3f} | {:.2f} | {:.2f} | {:+.2f} | {:.1f} | {:.1f} |\n",
             streams, middle([](const Round& raw, const Round&) { return raw.tokens_per_second; }),
             middle([](const Round&, const Round& own) { return own.tokens_per_second; }),
             middle([](const Round& raw, const Round& own) {
               return own.tokens_per_second / raw.tokens_per_second;
             }),
             middle([](const Round& raw, const Round&) { return raw.first_token_ms; }),
             middle([](const Round&, const Round& own) { return own.first_token_ms; }),
             middle([](const Round& raw, const Round& own) {
               return own.first_token_ms - raw.first_token_ms;
             }),
             middle([](const Round& raw, const Round&) { return raw.cpu_us_per_token; }),
             middle([](const Round&, const Round& own) { return own.cpu_us_per_token; }));
}

void run(const fs::path& model_file, const fs::path& engine, const StreamLoad& plan) {
  const Folder folder;
  LoadOptions load{.device = "cpu",
                   .engine = engine,
                   .context_length = 512,
                   .parallel = 16,
                   .threads = 1,
                   .runtime_dir = folder.path()};
  const auto model = load_model(model_file, load);
  const GenerateOptions options{
      .max_tokens = plan.tokens, .temperature = 0, .ignore_eos = true, .cache_prompt = false};
  std::vector<TokenId> prompt(32);
  std::iota(prompt.begin(), prompt.end(), 40);

  const auto server = find_server(folder.path());
  const auto call = server::ask_completion(prompt, options);
  const std::string request = http::request_head({.method = call.method,
                                                  .target = call.target,
                                                  .body = call.body,
                                                  .bearer_key = server.key}) +
                              call.body;

  fmt::print("{} tokens a stream, {} rounds, medians; engine build {}\n", plan.tokens, plan.rounds,
             model.info().engine_build);
  fmt::print(
      "| streams | raw tokens/s | library tokens/s | rate ratio | raw first token, ms "
      "| library first token, ms | added, ms | raw CPU, us a token | library CPU, us a token |\n"
      "|---|---|---|---|---|---|---|---|---|\n");
  for (const int streams : plan.streams) {
    compare(
        streams, plan,
        [&](int count) {
          return measure([&] { return ask_raw(server.socket, request, count, plan.tokens); },
                         plan.tokens);
        },
        [&](int count) {
          return measure([&] { return ask_library(model, prompt, options, count); }, plan.tokens);
        });
  }
  model.close();
}

/// An argument, or what the tests' environment names.
fs::path given(int argc, char** argv, int index, const char* variable) {
  if (argc > index) return argv[index];
  const char* value = std::getenv(variable);
  return value ? value : "";
}

}  // namespace

int main(int argc, char** argv) try {
  const bool smoke = argc > 1 && std::string_view(argv[1]) == "--smoke";
  if (smoke) --argc, ++argv;
  const auto model = given(argc, argv, 1, "LLAMAVISOR_TEST_ASCII_MODEL");
  const auto engine = given(argc, argv, 2, "LLAMAVISOR_TEST_CPU_ENGINE");
  if (model.empty()) {
    fmt::print(stderr, "usage: bench_stream [--smoke] MODEL.gguf [ENGINE-FOLDER [ROUNDS]]\n");
    return 2;
  }
  auto plan = smoke ? StreamLoad{.tokens = 20, .rounds = 2, .warm_up = 1} : StreamLoad{};
  if (argc > 3) plan.rounds = std::stoi(argv[3]);
  run(model, engine, plan);
} catch (const std::exception& error) {
  fmt::print(stderr, "bench_stream: {}\n", error.what());
  return 1;
}
