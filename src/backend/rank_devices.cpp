#include "backend/rank_devices.hpp"

#include "device/device_name.hpp"

#include <algorithm>
#include <tuple>

namespace llamavisor::backend {

namespace {

auto rank(const Device& device) {
  const auto name = device::parse_device_name(device.name);
  const int kind = name.kind == "cuda" ? 0 : name.kind == "rocm" ? 1 : 2;
  return std::tuple(device.kind, kind, ~device.memory_free, name.numbers.front());
}

}  // namespace

std::vector<const Device*> rank_devices(const std::vector<Device>& devices) {
  std::vector<const Device*> usable;
  for (const auto& device : devices) {
    if (device.usable) usable.push_back(&device);
  }
  std::sort(usable.begin(), usable.end(),
            [](const Device* left, const Device* right) { return rank(*left) < rank(*right); });
  return usable;
}

}  // namespace llamavisor::backend
