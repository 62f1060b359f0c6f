#include "common/load_flags.hpp"

#include "common/shell_words.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

namespace llamavisor::cli {

namespace {

std::optional<int> parse_gpu_layers(const std::string& text) {
  if (text.empty() || text == "auto") return std::nullopt;
  if (text == "all") return -1;
  int layers = 0;
  const auto end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, layers);
  if (error == std::errc{} && stop == end) return layers;
  throw Error(errc::invalid_option,
              fmt::format("--gpu-layers takes a number, auto or all, not \"{}\"", text));
}

std::pair<std::string, std::string> parse_variable(const std::string& text) {
  const auto equals = text.find('=');
  if (equals != std::string::npos && equals > 0) {
    return {text.substr(0, equals), text.substr(equals + 1)};
  }
  throw Error(errc::invalid_option, fmt::format("--env takes NAME=VALUE, not \"{}\"", text));
}

/// "FILE" or "FILE:SCALE": what follows the last colon is a scale if it is a number.
Adapter parse_adapter(const std::string& text) {
  const auto colon = text.rfind(':');
  if (colon != std::string::npos && colon > 0) {
    float scale = 0;
    const auto end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data() + colon + 1, end, scale);
    if (error == std::errc{} && stop == end) return {text.substr(0, colon), scale};
  }
  return {text};
}

std::chrono::milliseconds parse_seconds(double seconds) {
  constexpr double longest = 1e9;
  if (seconds >= 0 && seconds <= longest) {
    return std::chrono::milliseconds(std::llround(seconds * 1000));
  }
  throw Error(errc::invalid_option,
              "--load-silence must be from 0 to 1000000000 seconds (0 = off)");
}

std::map<std::string, Fallback> fallbacks() {
  std::map<std::string, Fallback> names;
  for (const auto fallback : {Fallback::automatic, Fallback::never, Fallback::to_cpu})
    names.emplace(name(fallback), fallback);
  return names;
}

}  // namespace

void LoadFlags::describe_to(CLI::App& app) {
  const auto group = "Model and engine";
  app.add_option("-m,--model", model, "GGUF file")->required()->type_name("FILE")->group(group);
  app.add_option("-d,--device", options.device,
                 "auto, cpu, cuda[:n], rocm[:n], hip[:n] or vulkan[:n]; auto is what "
                 "LLAMAVISOR_DEVICE names, where it names one")
      ->type_name("DEVICE")
      ->group(group);
  app.add_option("--engine", options.engine, "Engine pack; otherwise the best that is found")
      ->type_name("DIR")
      ->group(group);
  app.add_option("--adapter", adapters,
                 "LoRA adapter for the model, in GGUF form, and how strongly it works (1 by "
                 "default); may be repeated")
      ->type_name("FILE[:SCALE]")
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all()
      ->group(group);
  app.add_option("--projector", options.projector, "The model's projector (mmproj), in GGUF form")
      ->type_name("FILE")
      ->group(group);
  app.add_option("-c,--context-length", options.context_length,
                 "Tokens of context for each slot; 0 = as trained, at most 8192")
      ->type_name("N")
      ->group(group);
  app.add_option("--gpu-layers", gpu_layers, "Layers on the GPU: N, all, or auto (the default)")
      ->type_name("N")
      ->group(group);
  app.add_option("--parallel", options.parallel, "Slots: requests served at the same time")
      ->type_name("N")
      ->capture_default_str()
      ->group(group);
  app.add_option("--threads", options.threads, "Of the CPU engine; 0 = as many as are usable")
      ->type_name("N")
      ->group(group);
  app.add_option("--fallback", options.fallback,
                 "When the server dies: automatic (the CPU takes over; a load that fails only with "
                 "device auto), to_cpu (a load too), never")
      ->transform(CLI::CheckedTransformer(fallbacks(), CLI::ignore_case).description(""))
      ->type_name("HOW")
      ->group(group);
  app.add_flag("--require-cpu-engine", options.require_cpu_engine,
               "Fail where there is no CPU engine to take over")
      ->group(group);
  app.add_flag("--standby", options.standby, "Keep a CPU server warm, which takes over at once")
      ->group(group);
  app.add_option("--runtime-dir", options.runtime_dir, "Where the socket's private folder is made")
      ->type_name("DIR")
      ->group(group);
  app.add_option("--server-args", server_args,
                 "More arguments for llama-server, in one text, quoted as for a shell")
      ->type_name("\"ARG...\"")
      ->group(group);
  app.add_option("--env", environment, "Added to the server's environment; may be repeated")
      ->type_name("NAME=VALUE")
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all()
      ->group(group);
  app.add_option("--load-silence", load_silence_s,
                 "A load fails after so many seconds without a sign of life; 0 = off")
      ->type_name("S")
      ->capture_default_str()
      ->group(group);
}

LoadOptions LoadFlags::to_options() const {
  auto result = options;
  result.gpu_layers = parse_gpu_layers(gpu_layers);
  result.server_args = shell_words(server_args);
  for (const auto& variable : environment)
    result.environment.push_back(parse_variable(variable));
  for (const auto& adapter : adapters)
    result.adapters.push_back(parse_adapter(adapter));
  result.limits.load_silence = parse_seconds(load_silence_s);
  return result;
}

}  // namespace llamavisor::cli
