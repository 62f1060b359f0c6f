/// \file
/// Which device is the best.
#pragma once

#include <llamavisor/device.hpp>

#include <vector>

namespace llamavisor::backend {

/// Those that are usable, best first: discrete before integrated before software, CUDA before ROCm
/// before others; then the most free memory, then the lowest number. They live as long as
/// `devices`.
std::vector<const Device*> rank_devices(const std::vector<Device>& devices);

}  // namespace llamavisor::backend
