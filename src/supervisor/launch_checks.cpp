#include "supervisor/launch_checks.hpp"

#include "device/memory.hpp"
#include "engine/pack_description.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace llamavisor::supervisor {

namespace {

/// Of a pack by its description, which is written with it; else by the program.
FileIdentity identity_of(const Engine& engine) {
  if (engine.source == engine::plain_source) return FileIdentity::of(engine.command.back());
  return FileIdentity::of(engine.folder / engine::description_name);
}

double as_gib(std::uint64_t bytes) {
  return static_cast<double>(bytes) / (1 << 30);
}

}  // namespace

void LaunchChecks::remember(const std::vector<RungSpec>& rungs, const ModelFile& model) {
  engines_.clear();
  for (const auto& rung : rungs)
    engines_.push_back(identity_of(rung.server.engine));
  files_ = model.files;
  unreadable_ = model.failure;
}

std::optional<Failure> LaunchChecks::check(RungSpec& rung, std::size_t index,
                                           std::string& warning) const {
  if (auto failure = unreadable_) {
    failure->phase = Phase::spawn;
    failure->cause = Cause::bad_model;
    return failure;
  }
  const auto changed = std::find_if(files_.begin(), files_.end(),
                                    [](const KnownFile& file) { return !file.is_unchanged(); });
  if (changed != files_.end()) {
    return Failure{.code = errc::model_changed,
                   .message = fmt::format("the file {} was replaced or removed since the model was "
                                          "loaded: load it anew",
                                          changed->path.string()),
                   .phase = Phase::spawn,
                   .cause = Cause::bad_model};
  }
  if (identity_of(rung.server.engine) == engines_[index]) return std::nullopt;
  if (rung.server.engine.source == engine::plain_source) {
    warning = fmt::format("the {} engine {} was replaced since the model was loaded",
                          rung.server.engine.flavour, rung.server.engine.command.back());
    return std::nullopt;
  }
  const int old_build = rung.server.engine.build;
  try {
    rung.server.engine = read_engine(rung.server.engine.folder);
  } catch (const Error& error) {
    auto failure = error.failure();
    failure.phase = Phase::spawn;
    failure.cause = Cause::missing_library;  // the engine is condemned, as without a library
    return failure;
  }
  warning = fmt::format("the {} engine was replaced since the model was loaded: build {} was {}",
                        rung.server.engine.flavour, rung.server.engine.build, old_build);
  return std::nullopt;
}

std::optional<Failure> check_memory(const RungSpec& rung) {
  const auto need = rung.memory_need();
  if (need == 0 || rung.server.on_gpu()) return std::nullopt;
  const auto available = device::available_memory();
  if (!available || *available >= need) return std::nullopt;
  return Failure{.code = errc::out_of_memory,
                 .message = fmt::format("the model needs about {:.1f} GiB on the CPU, and only "
                                        "{:.1f} GiB are available: free some, or load it with a "
                                        "smaller context_length or fewer parallel slots",
                                        as_gib(need), as_gib(*available)),
                 .phase = Phase::spawn,
                 .cause = Cause::out_of_memory};
}

}  // namespace llamavisor::supervisor
