// What a load does on a GPU whose memory is short. By hand, with a real GPU:
//
//   bench_memory MODEL DEVICE held            while another process holds the card: each way in
//   turn bench_memory MODEL DEVICE late SMALL PID  SMALL has just left the device, and process PID,
//   which
//                                             holds the memory, is killed when MODEL has waited
//                                             twice
//   bench_memory MODEL DEVICE own             its own server, with a context of 256 slots, is
//                                             reloaded and killed: is the memory back in time?
//
// Prints what came of each, with its events. Engines and environment as for bench_failover.
#include <llamavisor/llamavisor.hpp>

#include "event_log.hpp"
#include "processes.hpp"
#include "real_servers.hpp"

#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>

using namespace llamavisor;
using Clock = std::chrono::steady_clock;
using Kind = Event::Kind;

namespace {

void print_events(const test::EventLog& log, std::chrono::system_clock::time_point since) {
  for (const auto& event : log.all()) {
    if (event.kind == Kind::loading || event.time < since) continue;
    const std::chrono::duration<double> at = event.time - since;
    fmt::print("    {:6.2f} s  {} {} {}{}\n", at.count(), name(event.kind), event.generation,
               event.device, event.message.empty() ? "" : ": " + event.message);
  }
}

/// Something that loads, told with how long it took and what came of it.
void tell(const std::string& what, const test::EventLog& log,
          const std::function<ModelInfo()>& load) {
  const auto since = std::chrono::system_clock::now();
  const auto start = Clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  try {
    const auto info = load();
    fmt::print("{}\n  ready after {:.2f} s: {}, {} of {} layers there, context {} x {}\n", what,
               seconds(), info.device, info.gpu_layers, info.gpu_layers_total, info.parallel,
               info.context_length);
  } catch (const Error& error) {
    fmt::print("{}\n  failed after {:.2f} s: {}: {}\n", what, seconds(), name(error.code()),
               error.what());
    for (const auto& line : error.failure().last_lines)
      fmt::print("      | {}\n", line);
  }
  print_events(log, since);
  std::fflush(stdout);
}

ModelInfo load_and_ask(const std::string& file, const LoadOptions& options) {
  const auto model = load_model(file, options);
  model.generate("Hello", {.max_tokens = 16, .temperature = 0.0, .ignore_eos = true})
      .result_or_throw();
  const auto info = model.info();
  model.close();
  return info;
}

/// All layers where nothing else is said, and the context of a default load.
LoadOptions large(const std::string& device, const test::EventLog& log) {
  auto options = bench::real_server_options(device);
  options.context_length = 8192;
  options.gpu_layers = -1;
  options.on_event = log.handler();
  return options;
}

void each_way(const std::string& file, const std::string& device) {
  const auto way = [&](const std::string& what, const std::function<void(LoadOptions&)>& change) {
    const test::EventLog log;
    auto options = large(device, log);
    change(options);
    tell(what, log, [&] { return load_and_ask(file, options); });
  };
  way("all layers", [](auto&) {});
  way("as many layers as fit", [](auto& options) { options.gpu_layers.reset(); });
  way("all layers, to_cpu", [](auto& options) { options.fallback = Fallback::to_cpu; });
  way("all layers, fewer_layers",
      [](auto& options) { options.when_out_of_memory = OutOfMemory::fewer_layers; });
  way("1000 layers, fewer_layers", [](auto& options) {
    options.gpu_layers = 1000;
    options.when_out_of_memory = OutOfMemory::fewer_layers;
  });
  way("all layers, smaller_context",
      [](auto& options) { options.when_out_of_memory = OutOfMemory::smaller_context; });
}

void late(const std::string& file, const std::string& device, const std::string& small,
          pid_t holder) {
  load_and_ask(small, large(device, {}));
  const test::EventLog log;
  auto options = large(device, log);
  int waits = 0;
  options.on_event = [&waits, holder, handler = log.handler()](const Event& event) {
    handler(event);
    if (event.kind == Kind::restarting && ++waits == 2) ::kill(holder, SIGKILL);
  };
  tell("the holder is killed at the second wait", log, [&] { return load_and_ask(file, options); });
}

void own_memory(const std::string& file, const std::string& device) {
  const test::EventLog log;
  auto options = large(device, log);
  options.parallel = 256;
  options.same_rung_retries = 10;
  options.recovery.restarts = 10;
  const auto model = load_model(file, options);
  for (int round = 0; round < 3; ++round) {
    tell("reload", log, [&] {
      model.reload();
      log.wait_for(Kind::ready, 2 * round + 2);
      return model.info();
    });
    tell("killed", log, [&] {
      test::kill_and_wait(test::own_server(), SIGKILL);
      log.wait_for(Kind::ready, 2 * round + 3);
      return model.info();
    });
  }
  model.close();
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string_view mode = argc > 3 ? argv[3] : "";
  if (mode == "held" && argc == 4) {
    each_way(argv[1], argv[2]);
  } else if (mode == "late" && argc == 6) {
    late(argv[1], argv[2], argv[4], std::atoi(argv[5]));
  } else if (mode == "own" && argc == 4) {
    own_memory(argv[1], argv[2]);
  } else {
    fmt::print(stderr, "usage: bench_memory MODEL DEVICE held | late SMALL PID | own\n");
    return 2;
  }
} catch (const std::exception& error) {
  fmt::print(stderr, "bench_memory: {}\n", error.what());
  return 1;
}
