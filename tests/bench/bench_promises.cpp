// What the library promises of closing, dying hosts, readiness and memory, in figures: on the fake
// llama-server, so that the library is measured and not a model.
//
//   bench_promises [--smoke]
//
// prints tables in Markdown; see docs/measurements/promises.md. As a host that is to be killed it
// calls itself: bench_promises --host MODEL.
#include "bench.hpp"
#include "faults/model/fake_world.hpp"
#include "plain_http.hpp"
#include "test_paths.hpp"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <functional>
#include <future>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

using namespace llamavisor;
using namespace std::chrono_literals;
using faults::FakeWorld;
using Clock = std::chrono::steady_clock;
using Figures = std::vector<double>;

namespace {

// Between SIGTERM and SIGKILL.
constexpr auto grace = 500ms;

double ms_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double, std::milli>(to - from).count();
}

/// When a process, a child or not, has ended. Watches from its construction on.
class EndWatch {
 public:
  explicit EndWatch(pid_t process)
      : descriptor_(static_cast<int>(::syscall(SYS_pidfd_open, process, 0))),
        end_(std::async(std::launch::async, [this] {
          pollfd entry{.fd = descriptor_, .events = POLLIN, .revents = 0};
          if (descriptor_ >= 0 && ::poll(&entry, 1, 60'000) != 1) fmt::print("never ended\n");
          return Clock::now();
        })) {}
  ~EndWatch() {
    if (end_.valid()) end_.wait();
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  EndWatch(const EndWatch&) = delete;
  EndWatch& operator=(const EndWatch&) = delete;

  Clock::time_point wait() { return end_.get(); }

 private:
  int descriptor_;
  std::future<Clock::time_point> end_;
};

pid_t last_server(const FakeWorld& world, std::string_view event = "start") {
  return static_cast<pid_t>(world.story().wait_for(event).back().at("pid").to_number<int>());
}

void print_row(std::string_view what, const Figures& figures, std::string_view promised) {
  fmt::print("| {} | {:.1f} | {:.1f} | {} | {} |\n", what, bench::median(figures),
             *std::max_element(figures.begin(), figures.end()), figures.size(), promised);
}

/// How long `close()` takes, and how long after the server's end it returns.
void closing(int rounds) {
  const auto within_grace = fmt::format("{} + 1000", grace.count());
  for (const auto& [name, script, is_stopped, promised] :
       {std::tuple{"polite server", "", false, within_grace},
        {"deaf server", "ignore_term", false, within_grace},
        {"stopped server", "", true, within_grace},
        {"double fork, the parent waits", "double_fork=wait", false, within_grace}}) {
    Figures closes, after_end;
    for (int round = 0; round < rounds; ++round) {
      const FakeWorld world(script);
      auto options = world.cpu();
      options.limits.stop_grace = grace;
      const auto model = world.load(options);
      const auto server = last_server(world);
      if (is_stopped) ::kill(server, SIGSTOP);
      EndWatch watch(server);
      const auto start = Clock::now();
      model.close();
      const auto closed = Clock::now();
      closes.push_back(ms_between(start, closed));
      after_end.push_back(ms_between(watch.wait(), closed));
    }
    print_row(fmt::format("close(), {}", name), closes, promised);
    if (*script == '\0' && !is_stopped) print_row("from its end to close() done", after_end, "50");
  }
}

/// From the kill of a host to the end of its server.
void dying_hosts(int rounds) {
  for (const std::string_view state : {"loading", "ready"}) {
    Figures figures;
    for (int round = 0; round < rounds; ++round) {
      const FakeWorld world(state == "loading" ? "load_ms=60000" : "");
      const test::ScopedVariable script("FAKE_SERVER_FILE", world.file("script").string());
      const test::ScopedVariable story("FAKE_SERVER_LOG", world.story().file().string());
      auto self = test::program("bench_promises"), mode = std::string("--host"),
           model = world.model_file().string();
      char* arguments[] = {self.data(), mode.data(), model.data(), nullptr};
      pid_t host = 0;
      if (::posix_spawn(&host, self.c_str(), nullptr, nullptr, arguments, environ) != 0) return;
      const auto server = last_server(world, state == "loading" ? "start" : "finished");
      const auto victim = state == "loading" ? server : last_server(world);
      EndWatch watch(victim);
      const auto start = Clock::now();
      ::kill(host, SIGKILL);
      figures.push_back(ms_between(start, watch.wait()));
      ::waitpid(host, nullptr, 0);
    }
    print_row(fmt::format("host killed while {}, to the server's end", state), figures, "1000");
  }
}

/// From the first 200 of `/health`, asked by another client all the time, to the end of the load.
void readiness(int rounds) {
  Figures figures;
  for (int round = 0; round < rounds; ++round) {
    const FakeWorld world("load_ms=300");
    auto first_200 = std::async(std::launch::async, [&] {
      const auto socket = test::argument_of(last_server(world), "--host");
      while (test::http_request(socket, "GET", "/health").status != 200)
        std::this_thread::sleep_for(500us);
      return Clock::now();
    });
    const auto model = world.load(world.cpu());
    const auto ready = Clock::now();
    figures.push_back(ms_between(first_200.get(), ready));
  }
  print_row("first 200 of /health to ready, a token included", figures, "60");
}

double resident_mib() {
  std::ifstream file("/proc/self/statm");
  double total = 0, resident = 0;
  file >> total >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE)) / (1 << 20);
}

void print_growth(std::string_view what, const std::function<void()>& task) {
  const auto before = resident_mib();
  task();
  fmt::print("| {} | {:.2f} | 5 |\n", what, resident_mib() - before);
}

void memory(bool is_smoke) {
  const int tokens = is_smoke ? 2000 : 100'000;
  const std::string flood = is_smoke ? "1000000" : "1073741824";
  const FakeWorld world("skip=1 train_context=200000");
  auto options = world.cpu();
  options.context_length = 200'000;
  options.parallel = 1;
  const auto model = world.load(options);
  model.generate("Hello", faults::greedy(1000)).result_or_throw();
  print_growth(fmt::format("a stream of {} tokens, read", tokens), [&] {
    auto stream = model.generate("Hello", faults::greedy(tokens));
    int count = 0;
    for (const auto& token : stream)
      count += !token.text.empty();
    if (count != tokens) fmt::print("only {} tokens came\n", count);
  });
  print_growth("the same, not read for 2 s after ten tokens", [&] {
    auto stream = model.generate("Hello", faults::greedy(tokens));
    faults::read_tokens(stream, 10);
    std::this_thread::sleep_for(is_smoke ? 0s : 2s);
  });
  print_growth(fmt::format("{} bytes of stderr while loading", flood), [&] {
    world.set_script("flood_stderr=" + flood + "@load");
    world.load(world.cpu());
  });
}

/// Until it is killed.
int host(const std::string& model_file) {
  const auto model =
      load_model(model_file, {.device = "cpu", .context_length = 4096, .threads = 1});
  while (true)
    ::pause();
}

}  // namespace

int main(int count, char** arguments) {
  const std::vector<std::string> given(arguments + 1, arguments + count);
  if (given.size() == 2 && given[0] == "--host") return host(given[1]);
  const bool is_smoke = given == std::vector<std::string>{"--smoke"};
  const int rounds = is_smoke ? 1 : 20;
  fmt::print(
      "| what | median, ms | worst, ms | rounds | promised, ms |\n|---|---:|---:|---:|---:|\n");
  closing(rounds);
  dying_hosts(rounds);
  readiness(rounds);
  fmt::print("\n| what | more memory, MiB | promised, MiB |\n|---|---:|---:|\n");
  memory(is_smoke);
}
