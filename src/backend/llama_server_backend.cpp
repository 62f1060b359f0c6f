#include "backend/llama_server_backend.hpp"

#include <llamavisor/engine.hpp>
#include <llamavisor/gguf.hpp>

#include "backend/check_load_options.hpp"
#include "backend/resolve_device.hpp"
#include "device/usable_cores.hpp"
#include "model/model_core.hpp"
#include "runtime/runtime.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace llamavisor::backend {

namespace {

/// A slot's context where the caller names none: enough for most conversations, and cheap.
constexpr int default_context_length = 8192;

Engine choose_engine(const device::DeviceName& device, const LoadOptions& options) {
  const auto flavour = device.flavour();
  if (!options.engine.empty()) {
    auto engine = read_engine(options.engine);
    if (engine.flavour == flavour) return engine;
    throw Error(errc::invalid_option,
                fmt::format("the engine in {} is of flavour {}, but device {} needs {}",
                            options.engine.string(), engine.flavour, device.text(), flavour));
  }
  for (auto& engine : find_engines()) {
    if (engine.flavour == flavour) return std::move(engine);
  }
  throw Error(errc::no_engine, fmt::format("no {0} engine for device {1}: get one with "
                                           "tools/get-engine {0}",
                                           flavour, device.text()));
}

int context_length(const LoadOptions& options, const GgufInfo& file) {
  const int trained = static_cast<int>(std::min(file.context_length, 1U << 24));
  const int wanted = options.context_length > 0 ? options.context_length : default_context_length;
  return trained > 0 ? std::min(wanted, trained) : wanted;
}

}  // namespace

Availability LlamaServerBackend::available() const {
  const auto flavour = device::parse_device_name(kind_).flavour();
  const auto engines = find_engines();
  const bool found = std::any_of(engines.begin(), engines.end(),
                                 [&](const Engine& engine) { return engine.flavour == flavour; });
  if (found) return {.available = true};
  return {.reason = fmt::format("no {0} engine: get one with tools/get-engine {0}", flavour)};
}

TextModel LlamaServerBackend::load(const std::filesystem::path& model, const LoadOptions& options,
                                   std::stop_token stop) {
  check_load_options(options);
  const auto device = resolve_device(options.device, kind_);
  auto file = read_gguf(model);
  supervisor::Settings settings{
      .spec = {.engine = choose_engine(device, options),
               .device = device.text(),
               .model = std::filesystem::absolute(model),
               .context_length = context_length(options, file),
               .gpu_layers = options.gpu_layers,
               .parallel = options.parallel,
               .threads = options.threads > 0 ? options.threads : device::usable_cores(),
               .prompt_cache_mib = options.prompt_cache_mib,
               .extra = options.server_args,
               .environment = options.environment},
      .limits = options.limits,
      .runtime_dir = options.runtime_dir,
      .max_waiting = options.max_waiting,
      .on_event = options.on_event};
  auto core =
      std::make_shared<detail::ModelCore>(Runtime::shared(), std::move(settings), std::move(file));
  core->load(std::move(stop));
  return TextModel(std::move(core));
}

}  // namespace llamavisor::backend
