#include "backend/llama_server_backend.hpp"

#include <llamavisor/device.hpp>
#include <llamavisor/engine.hpp>

#include "backend/check_load_options.hpp"
#include "backend/gpu_facts.hpp"
#include "backend/resolve_device.hpp"
#include "device/quarantine.hpp"
#include "device/usable_cores.hpp"
#include "model/model_core.hpp"
#include "runtime/runtime.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace llamavisor::backend {

namespace {

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

server::ModelPaths absolute_paths(const std::filesystem::path& model, const LoadOptions& options) {
  const auto absolute = [](const std::filesystem::path& path) {
    std::error_code error;  // of an empty path: there is no such file, which is said later
    auto result = std::filesystem::absolute(path, error);
    return error ? path : result;
  };
  server::ModelPaths paths{.model = absolute(model), .adapters = options.adapters};
  for (auto& adapter : paths.adapters)
    adapter.file = absolute(adapter.file);
  if (!options.projector.empty()) paths.projector = absolute(options.projector);
  return paths;
}

/// One step of the ladder.
supervisor::RungSpec make_rung(const device::DeviceName& device, Engine engine,
                               const server::ModelPaths& paths, const LoadOptions& options) {
  supervisor::RungSpec rung{
      .server = {.engine = std::move(engine),
                 .device = device.text(),
                 .paths = paths,
                 .parallel = options.exact_scores ? 1 : options.parallel,
                 .threads = options.threads > 0 ? options.threads : device::usable_cores(),
                 .prompt_cache_mib = options.exact_scores ? 0 : options.prompt_cache_mib,
                 .exact_scores = options.exact_scores,
                 .extra = options.server_args,
                 .environment = options.environment},
      .asked_context = options.context_length,
      .asked_layers = options.gpu_layers};
  const auto names = device.each();
  rung.quarantined =
      rung.server.on_gpu() && std::any_of(names.begin(), names.end(), [&](const std::string& name) {
        return device::Quarantine().holds(name, rung.server.engine.flavour,
                                          rung.server.engine.build);
      });
  return rung;
}

[[noreturn]] void refuse_quarantined(const device::DeviceName& device) {
  throw Error(errc::device_quarantined,
              fmt::format("{} failed so hard that a second try may hang this machine; it is "
                          "quarantined until the next boot, or until: llamavisor doctor --clear",
                          device.text()));
}

bool may_start_on_cpu(const LoadOptions& options) {
  return options.fallback == Fallback::to_cpu ||
         (options.fallback == Fallback::automatic && is_auto(options.device));
}

/// The CPU below a GPU, where the policy wants one; a notice where there is none.
void add_cpu_rung(supervisor::Settings& settings, const server::ModelPaths& paths,
                  const LoadOptions& options) {
  auto engines = find_engines();
  const auto cpu = std::find_if(engines.begin(), engines.end(),
                                [](const Engine& engine) { return engine.flavour == "cpu"; });
  if (cpu == engines.end()) {
    const std::string message =
        "there is no CPU engine to go on with should the GPU fail: get one with tools/get-engine "
        "cpu";
    if (options.require_cpu_engine) throw Error(errc::no_engine, message);
    settings.notices.push_back({.kind = Event::Kind::no_cpu_engine, .message = message});
    return;
  }
  const int gpu_build = settings.rungs.empty() ? 0 : settings.rungs.front().server.engine.build;
  if (gpu_build != 0 && cpu->build != gpu_build) {
    settings.notices.push_back(
        {.kind = Event::Kind::warning,
         .message = fmt::format("the CPU engine is build {}, the GPU engine build {}: answers may "
                                "differ more than devices alone would make them",
                                cpu->build, gpu_build)});
  }
  settings.rungs.push_back(make_rung({.kind = "cpu"}, std::move(*cpu), paths, options));
}

}  // namespace

Availability LlamaServerBackend::available() const {
  const auto flavour = device::parse_device_name(kind_).flavour();
  const auto engines = find_engines();
  const bool found = std::any_of(engines.begin(), engines.end(),
                                 [&](const Engine& engine) { return engine.flavour == flavour; });
  if (!found)
    return {.reason = fmt::format("no {0} engine: get one with tools/get-engine {0}", flavour)};
  if (kind_ == "cpu") return {.available = true};
  std::string reason;
  for (const auto& device : discover_devices({.ask_engines = AskEngines::when_not_known}).list) {
    if (!device.name.starts_with(kind_ + ":")) continue;
    if (device.usable) return {.available = true};
    reason += fmt::format("{}{}: {}", reason.empty() ? "" : "; ", device.name, device.reason);
  }
  return {.reason = reason.empty() ? fmt::format("there is no {} device", kind_) : reason};
}

TextModel LlamaServerBackend::load(const std::filesystem::path& model, const LoadOptions& options,
                                   std::stop_token stop) {
  check_load_options(options);
  return load_on(resolve_device(options, kind_), model, options, std::move(stop));
}

TextModel LlamaServerBackend::load_on(const device::DeviceName& device,
                                      const std::filesystem::path& model,
                                      const LoadOptions& options, std::stop_token stop) {
  check_load_options(options);
  const auto paths = absolute_paths(model, options);
  auto file = supervisor::ModelFile::read(paths);
  if (file->failure) throw Error(*file->failure);
  supervisor::Settings settings{.file = std::move(file),
                                .policy = {.fallback = options.fallback,
                                           .device_is_auto = is_auto(options.device),
                                           .same_rung_retries = options.same_rung_retries,
                                           .standby = options.standby,
                                           .memory_return = options.limits.memory_return,
                                           .recovery = options.recovery},
                                .when_out_of_memory = options.when_out_of_memory,
                                .limits = options.limits,
                                .runtime_dir = options.runtime_dir,
                                .max_waiting = options.max_waiting,
                                .on_event = options.on_event};
  auto engine = choose_engine(device, options);
  const auto gpu = gpu_facts(device, engine);
  if (!gpu.obstacle) {
    settings.rungs.push_back(make_rung(device, std::move(engine), paths, options));
    settings.rungs.front().server.visible = gpu.visible;
  } else if (may_start_on_cpu(options)) {
    settings.notices.push_back({.kind = Event::Kind::warning,
                                .message = gpu.obstacle->message + "; the CPU is used instead"});
  } else {
    throw Error(*gpu.obstacle);
  }
  const bool quarantined = !settings.rungs.empty() && settings.rungs.front().quarantined;
  if (quarantined && !is_auto(options.device)) refuse_quarantined(device);
  const bool on_cpu = !settings.rungs.empty() && !settings.rungs.front().server.on_gpu();
  if (!on_cpu && options.fallback != Fallback::never) {
    add_cpu_rung(settings, paths, options);
  }
  if (settings.rungs.empty()) throw Error(*gpu.obstacle);
  auto core = std::make_shared<detail::ModelCore>(Runtime::shared(), std::move(settings));
  core->load(std::move(stop));
  return TextModel(std::move(core));
}

}  // namespace llamavisor::backend
