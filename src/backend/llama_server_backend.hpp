/// \file
/// The backends that run llama-server: one for each kind of device.
#pragma once

#include <llamavisor/backend.hpp>

#include "device/device_name.hpp"

#include <string>

namespace llamavisor::backend {

/// Loads on the engine packs of one flavour.
class LlamaServerBackend final : public Backend {
 public:
  /// `kind` as in device names: "cpu", "vulkan", "rocm", "cuda".
  explicit LlamaServerBackend(std::string kind) : kind_(std::move(kind)) {}

  std::string_view name() const noexcept override { return kind_; }
  Availability available() const override;
  TextModel load(const std::filesystem::path& model, const LoadOptions& options,
                 std::stop_token stop) override;

  /// On a device that is resolved already: an engine is asked for its devices once only.
  static TextModel load_on(const device::DeviceName& device, const std::filesystem::path& model,
                           const LoadOptions& options, std::stop_token stop);

 private:
  std::string kind_;
};

}  // namespace llamavisor::backend
