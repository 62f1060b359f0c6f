/// \file
/// Where models are loaded: one backend for each kind of device.
#pragma once

#include <llamavisor/load_options.hpp>
#include <llamavisor/text_model.hpp>

#include <filesystem>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace llamavisor {

/// Whether a backend can be used on this machine, and if not, why not and what to do.
struct Availability {
  bool available = false;
  std::string reason{};  ///< empty when available
  explicit operator bool() const noexcept { return available; }
};

/// Loads models on one kind of device. Implementations must be safe from any thread.
class Backend {
 public:
  virtual ~Backend() = default;

  /// Short, lower case, fixed: "cpu", "vulkan", ...
  virtual std::string_view name() const noexcept = 0;

  virtual Availability available() const = 0;

  /// Loads a GGUF file and returns when a real token came out of it. Throws `Error`:
  /// `invalid_option`, `model_not_found`, `invalid_model`, `unsupported_model`, `unknown_device`,
  /// `no_engine`, `engine_too_old`, `engine_broken`, `load_failed`, `load_stalled`,
  /// `out_of_memory`, `cancelled`. On any of them nothing is left running.
  virtual TextModel load(const std::filesystem::path& model, const LoadOptions& options = {},
                         std::stop_token stop = {}) = 0;
};

/// All backends in rank order, best first. The list is made on first use. Any thread.
std::vector<std::shared_ptr<Backend>> backends();

/// Adds a host's own backend, ranked behind ours. Throws `invalid_option` when the name is taken.
void register_backend(std::shared_ptr<Backend> backend);

/// Null when there is none of that name; case does not matter.
std::shared_ptr<Backend> find_backend(std::string_view name);

/// The first that is available. Throws `no_engine` with every backend's reason when none is.
std::shared_ptr<Backend> default_backend();

/// Loads a model on the device that the options name: the short way for most hosts.
TextModel load_model(const std::filesystem::path& model, const LoadOptions& options = {},
                     std::stop_token stop = {});

}  // namespace llamavisor
