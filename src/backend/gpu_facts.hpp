/// \file
/// What is known of GPUs before any process is started on them.
#pragma once

#include <llamavisor/engine.hpp>
#include <llamavisor/error.hpp>

#include "device/device_name.hpp"

#include <optional>
#include <string>
#include <vector>

namespace llamavisor::backend {

/// Of the GPUs that one load is for.
struct GpuFacts {
  /// `ServerSpec::visible`; empty where the kernel lists none of their kind, and only the engine
  /// can tell.
  std::vector<std::string> visible{};

  /// Why they cannot be used: there is no such device, it is hidden, it may not be opened, or the
  /// engine has no code for it.
  std::optional<Failure> obstacle{};
};

/// Of ROCm and CUDA devices, from files alone; of others nothing. Throws what
/// `discover_devices` throws for a malformed environment.
GpuFacts gpu_facts(const device::DeviceName& device, const Engine& engine);

}  // namespace llamavisor::backend
