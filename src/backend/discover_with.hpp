/// \file
/// Discovery for engines that are known already.
#pragma once

#include <llamavisor/device.hpp>
#include <llamavisor/engine.hpp>

#include <vector>

namespace llamavisor::backend {

/// As `discover_devices`, with these engines instead of those that can be found.
Devices discover_with(const std::vector<Engine>& engines, const DiscoveryOptions& options);

}  // namespace llamavisor::backend
