#include "server/launch.hpp"

#include <llamavisor/error.hpp>

#include "server/adapter_arguments.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace llamavisor::server {

namespace {

/// Oldest llama.cpp build whose flags we need.
constexpr int minimum_build = 6000;

struct Owned {
  std::string_view flag;
  std::string_view instead;
};

/// Arguments that the supervisor owns, and what to use instead.
constexpr std::array owned_arguments{
    Owned{"-m", "the model argument of load()"},
    Owned{"--model", "the model argument of load()"},
    Owned{"-mu", "a local file"},
    Owned{"--model-url", "a local file"},
    Owned{"-hf", "a local file"},
    Owned{"-hfr", "a local file"},
    Owned{"--hf-repo", "a local file"},
    Owned{"-hff", "a local file"},
    Owned{"--hf-file", "a local file"},
    Owned{"-dr", "a local file"},
    Owned{"--docker-repo", "a local file"},
    Owned{"--models-dir", "one model for each load()"},
    Owned{"--models-preset", "one model for each load()"},
    Owned{"--models-max", "one model for each load()"},
    Owned{"--models-autoload", "one model for each load()"},
    Owned{"--lora", "LoadOptions::adapters"},
    Owned{"--lora-scaled", "LoadOptions::adapters"},
    Owned{"--lora-init-without-apply", "LoadOptions::adapters, with a scale of 0"},
    Owned{"-mm", "LoadOptions::projector"},
    Owned{"--mmproj", "LoadOptions::projector"},
    Owned{"-mmu", "LoadOptions::projector, and a local file"},
    Owned{"--mmproj-url", "LoadOptions::projector, and a local file"},
    Owned{"--host", "LoadOptions::runtime_dir"},
    Owned{"--port", "LoadOptions::runtime_dir"},
    Owned{"--reuse-port", "LoadOptions::runtime_dir"},
    Owned{"--api-key", "nothing: the key is random"},
    Owned{"--api-key-file", "nothing: the key is random"},
    Owned{"--api-prefix", "nothing: the socket is private"},
    Owned{"--ssl-key-file", "nothing: the socket is private"},
    Owned{"--ssl-cert-file", "nothing: the socket is private"},
    Owned{"-a", "nothing: it proves the server's identity"},
    Owned{"--alias", "nothing: it proves the server's identity"},
    Owned{"-dev", "LoadOptions::device"},
    Owned{"--device", "LoadOptions::device"},
    Owned{"-ngl", "LoadOptions::gpu_layers"},
    Owned{"--gpu-layers", "LoadOptions::gpu_layers"},
    Owned{"--n-gpu-layers", "LoadOptions::gpu_layers"},
    Owned{"-fit", "LoadOptions::gpu_layers"},
    Owned{"--fit", "LoadOptions::gpu_layers"},
    Owned{"-c", "LoadOptions::context_length"},
    Owned{"--ctx-size", "LoadOptions::context_length"},
    Owned{"-np", "LoadOptions::parallel"},
    Owned{"--parallel", "LoadOptions::parallel"},
    Owned{"-kvu", "LoadOptions::context_length, which is for each slot"},
    Owned{"-no-kvu", "LoadOptions::context_length, which is for each slot"},
    Owned{"--kv-unified", "LoadOptions::context_length, which is for each slot"},
    Owned{"--kv-unified-per-slot", "LoadOptions::context_length, which is for each slot"},
    Owned{"-t", "LoadOptions::threads"},
    Owned{"--threads", "LoadOptions::threads"},
    Owned{"--threads-http", "LoadOptions::parallel"},
    Owned{"-cram", "LoadOptions::prompt_cache_mib"},
    Owned{"--cache-ram", "LoadOptions::prompt_cache_mib"},
    Owned{"--cache-idle-slots", "LoadOptions::prompt_cache_mib"},
    Owned{"--slots", "nothing: the supervisor needs it"},
    Owned{"--no-slots", "nothing: the supervisor needs it"},
    Owned{"--ui", "nothing: the socket is private"},
    Owned{"--webui", "nothing: the socket is private"},
    Owned{"--embedding", "nothing: such a server cannot generate"},
    Owned{"--embeddings", "nothing: such a server cannot generate"},
    Owned{"--rerank", "nothing: such a server cannot generate"},
    Owned{"--reranking", "nothing: such a server cannot generate"},
    Owned{"--log-disable", "LoadOptions::on_event"},
    Owned{"--log-file", "LoadOptions::on_event"},
    Owned{"--log-jsonl", "LoadOptions::on_event"},
    Owned{"--sleep-idle-seconds", "TextModel::close()"},
    Owned{"-to", "GenerateOptions::deadline"},
    Owned{"--timeout", "GenerateOptions::deadline"},
    Owned{"-h", "llama-server itself"},
    Owned{"--help", "llama-server itself"},
    Owned{"--usage", "llama-server itself"},
    Owned{"--version", "Engine::version"},
    Owned{"--list-devices", "llama-server itself"},
    Owned{"-cl", "llama-server itself"},
    Owned{"--cache-list", "llama-server itself"},
    Owned{"--completion-bash", "llama-server itself"},
    Owned{"--license", "llama-server itself"},
};

/// What to use instead of a flag; empty where it is the host's own affair.
std::string_view use_instead(std::string_view written) {
  std::string flag(written);
  const bool is_long = flag.starts_with("--");
  // To the server an underscore in a long flag is a dash: "--api_key" would give another key.
  if (is_long) std::replace(flag.begin(), flag.end(), '_', '-');
  // "--gpt-oss-20b-default" and its like: a model by name, downloaded.
  const bool preset = is_long && (flag.ends_with("-default") || flag.ends_with("-spec"));
  if (preset && flag != "--spec-default") return "a local file";
  // "--no-host" is about buffers, not the address.
  const bool negated = flag.starts_with("--no-") && flag != "--no-host";
  const auto positive = negated ? "--" + flag.substr(5) : flag;
  const auto found = std::find_if(
      owned_arguments.begin(), owned_arguments.end(),
      [&](const Owned& owned) { return owned.flag == flag || owned.flag == positive; });
  return found == owned_arguments.end() ? std::string_view{} : found->instead;
}

/// Names of the environment that would steer a llama-server or break a pack. A name that ends in
/// '*' stands for all that begin so.
constexpr std::array<std::string_view, 9> unwanted_variables{
    "LLAMA_ARG_*", "LLAMA_SERVER_*",      "LLAMA_API_KEY",   "LLAMA_TRACE", "AIP_*",
    "HF_TOKEN",    "MTMD_BACKEND_DEVICE", "LD_LIBRARY_PATH", "LD_PRELOAD",
};

bool is_unwanted(std::string_view name) {
  return std::any_of(unwanted_variables.begin(), unwanted_variables.end(), [&](auto pattern) {
    if (!pattern.ends_with('*')) return name == pattern;
    pattern.remove_suffix(1);
    return name.starts_with(pattern);
  });
}

/// Collects a command line against what one engine knows.
class Arguments {
 public:
  explicit Arguments(const Engine& engine) : engine_(engine), list_(engine.command) {}

  template <typename... Values>
  void require(std::string_view flag, const Values&... values) {
    if (!known(flag)) {
      throw Error(
          errc::engine_too_old,
          fmt::format("the {} engine (build {}) does not know {}: llamavisor needs build {} "
                      "or newer; get one with: tools/get-engine {}",
                      engine_.flavour, engine_.build, flag, minimum_build, engine_.flavour));
    }
    add(flag, values...);
  }

  /// For a flag whose meaning has changed.
  void require_build(int build, std::string_view what) const {
    if (engine_.build == 0 || engine_.build >= build) return;
    throw Error(errc::engine_too_old,
                fmt::format("the {0} engine (build {1}) is too old for {2}: llamavisor needs build "
                            "{3} or newer; get one with: tools/get-engine {0}",
                            engine_.flavour, engine_.build, what, build));
  }

  template <typename... Values>
  bool offer(std::string_view flag, const Values&... values) {
    if (known(flag)) add(flag, values...);
    return known(flag);
  }

  std::vector<std::string> take() { return std::move(list_); }

 private:
  /// A pack whose help could not be read is trusted to be of today.
  bool known(std::string_view flag) const { return engine_.flags.empty() || engine_.knows(flag); }

  template <typename... Values>
  void add(std::string_view flag, const Values&... values) {
    list_.emplace_back(flag);
    (list_.push_back(fmt::format("{}", values)), ...);
  }

  const Engine& engine_;
  std::vector<std::string> list_;
};

std::string_view kind_of(std::string_view device) {
  return device.substr(0, device.find(':'));
}

/// "vulkan" -> "Vulkan"; empty for what is no GPU.
std::string_view their_kind(std::string_view ours) {
  if (ours == "vulkan") return "Vulkan";
  if (ours == "rocm") return "ROCm";
  return ours == "cuda" ? "CUDA" : "";
}

/// "ROCm0,ROCm1": the names behind a mask that shows so many.
std::string first_devices(std::string_view device, std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t number = 0; number < count; ++number)
    names.push_back(fmt::format("{}{}", their_kind(kind_of(device)), number));
  return fmt::format("{}", fmt::join(names, ","));
}

void add_gpu_layers(Arguments& arguments, const ServerSpec& spec) {
  if (!spec.on_gpu()) {
    arguments.require("--n-gpu-layers", 0);
    arguments.offer("--fit", "off");
  } else if (!spec.gpu_layers && !spec.exact_scores) {
    arguments.require("--n-gpu-layers", "auto");
    arguments.offer("--fit", "on");
  } else {
    arguments.require("--n-gpu-layers",
                      spec.gpu_layers.value_or(-1) < 0 ? "all" : std::to_string(*spec.gpu_layers));
    arguments.offer("--fit", "off");
  }
}

void add_adapters(Arguments& arguments, const ServerSpec& spec) {
  if (spec.paths.adapters.empty()) return;
  arguments.require_build(minimum_adapter_build, "adapters");
  const auto [plain, scaled] = adapter_arguments(spec.paths.adapters);
  if (!plain.empty()) arguments.require("--lora", plain);
  if (!scaled.empty()) arguments.require("--lora-scaled", scaled);
}

void add_projector(Arguments& arguments, const ServerSpec& spec) {
  if (spec.paths.projector.empty()) return;
  arguments.require("--mmproj", spec.paths.projector.string());
  // It has devices of its own, and would look for a GPU.
  if (!spec.on_gpu()) arguments.offer("--no-mmproj-offload");
}

/// What docs/decisions/0006-scores.md asks of a server.
void add_exact_scores(Arguments& arguments, const ServerSpec& spec) {
  if (!spec.exact_scores) return;
  arguments.require("--batch-size", 2048);
  arguments.require("--ubatch-size", 512);
  arguments.offer("--ctx-checkpoints", 0);
  if (spec.sliding_window) arguments.require("--swa-full");
}

}  // namespace

void check_server_args(std::span<const std::string> args) {
  for (const auto& argument : args) {
    const auto written = std::string_view(argument).substr(0, argument.find('='));
    const auto instead = use_instead(written);
    if (instead.empty()) continue;
    throw Error(
        errc::refused_server_argument,
        fmt::format("server argument {} belongs to the supervisor: use {}", written, instead));
  }
}

std::vector<std::string> command_line(const ServerSpec& spec, const Identity& identity) {
  Arguments arguments(spec.engine);
  arguments.require("--model", spec.paths.model.string());
  arguments.require("--alias", identity.alias);
  if (identity.unix_path.empty()) {
    arguments.require("--host", "127.0.0.1");
    arguments.require("--port", 0);
  } else {
    arguments.require("--host", identity.unix_path);
  }
  arguments.require("--ctx-size", std::int64_t{spec.context_length} * spec.parallel);
  arguments.require("--parallel", spec.parallel);
  arguments.require("--threads", spec.threads);
  // A build without --device cannot be told to keep off a GPU; only a CPU pack may lack it.
  if (spec.on_gpu()) {
    arguments.require("--device", spec.visible.empty()
                                      ? server_device_name(spec.device)
                                      : first_devices(spec.device, spec.visible.size()));
  } else {
    arguments.offer("--device", "none");
  }
  add_gpu_layers(arguments, spec);
  add_adapters(arguments, spec);
  add_projector(arguments, spec);
  add_exact_scores(arguments, spec);
  arguments.offer("--no-kv-unified");
  // One thread for each slot, and some for small calls and probes: a probe that waits for a thread
  // would look like a hang.
  arguments.offer("--threads-http", spec.parallel + 8);
  arguments.offer("--cache-ram", spec.prompt_cache_mib);
  if (spec.prompt_cache_mib == 0) arguments.offer("--no-cache-idle-slots");
  arguments.offer("--slots");
  if (!arguments.offer("--no-ui")) arguments.offer("--no-webui");
  arguments.offer("--offline");
  arguments.offer("--log-verbosity", 4);  // the layers on the GPU are told at this level only
  auto command = arguments.take();
  command.insert(command.end(), spec.extra.begin(), spec.extra.end());
  return command;
}

std::vector<std::string> child_environment(const ServerSpec& spec, const Identity& identity,
                                           std::span<const std::string> inherited) {
  std::vector<std::pair<std::string, std::string>> variables;
  const auto set = [&](std::string_view name, std::string_view value) {
    std::erase_if(variables, [&](const auto& entry) { return entry.first == name; });
    variables.emplace_back(name, value);
  };
  for (const auto& entry : inherited) {
    const auto equals = entry.find('=');
    if (equals == std::string::npos || equals == 0) continue;
    const auto name = std::string_view(entry).substr(0, equals);
    if (!is_unwanted(name)) variables.emplace_back(name, entry.substr(equals + 1));
  }
  set("LLAMA_API_KEY", identity.key);
  if (!spec.visible.empty()) {
    // What these would hide has been taken into account; behind our mask they would hide ours.
    std::erase_if(variables, [](const auto& entry) {
      return entry.first == "ROCR_VISIBLE_DEVICES" || entry.first == "HIP_VISIBLE_DEVICES" ||
             entry.first == "CUDA_VISIBLE_DEVICES" || entry.first == "GPU_DEVICE_ORDINAL";
    });
    const bool rocm = kind_of(spec.device) == "rocm";
    set(rocm ? "ROCR_VISIBLE_DEVICES" : "CUDA_VISIBLE_DEVICES",
        fmt::format("{}", fmt::join(spec.visible, ",")));
    if (!rocm) set("CUDA_DEVICE_ORDER", "PCI_BUS_ID");  // positions are by PCI address
  }
  set("GGML_NO_BACKTRACE", "1");  // on abort the server would fork a debugger, and wait for it
  for (const auto& [name, value] : spec.environment)
    set(name, value);
  std::vector<std::string> result;
  result.reserve(variables.size());
  for (const auto& [name, value] : variables)
    result.push_back(fmt::format("{}={}", name, value));
  return result;
}

std::string server_device_name(std::string_view device) {
  std::vector<std::string> names;
  while (!device.empty()) {
    const auto one = device.substr(0, device.find(','));
    device.remove_prefix(std::min(one.size() + 1, device.size()));
    const auto colon = one.find(':');
    const auto kind = their_kind(one.substr(0, colon));
    if (kind.empty()) return "none";
    names.push_back(
        fmt::format("{}{}", kind, colon == std::string_view::npos ? "0" : one.substr(colon + 1)));
  }
  return fmt::format("{}", fmt::join(names, ","));
}

}  // namespace llamavisor::server
