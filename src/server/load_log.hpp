/// \file
/// What a server's log tells of a load. Hints only: whether it is ready, HTTP alone decides.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace llamavisor::server {

/// Steps of a load, in the order in which they come.
enum class LoadStep {
  starting,
  reading_model,
  loading_weights,
  building_context,
  warming_up,
  loaded
};

/// "loading weights", ... Never throws.
std::string_view name(LoadStep step) noexcept;

/// Layers on the GPU, as logged: "offloaded N/M layers to GPU".
struct OffloadedLayers {
  int on_gpu = 0;
  int total = 0;
};

/// Follows a log, line by line.
class LoadLog {
 public:
  struct Progress {
    LoadStep step = LoadStep::starting;
    std::optional<double> fraction{};  ///< of the weights, where the log shows it
  };

  /// The new progress, if this line makes any.
  std::optional<Progress> read(std::string_view line);

  const Progress& progress() const noexcept { return progress_; }
  const std::optional<OffloadedLayers>& layers() const noexcept { return layers_; }

 private:
  std::optional<Progress> advance(LoadStep step);
  std::optional<Progress> count_dots(std::string_view line);

  Progress progress_;
  std::optional<OffloadedLayers> layers_;
};

}  // namespace llamavisor::server
