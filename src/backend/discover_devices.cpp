#include <llamavisor/device.hpp>
#include <llamavisor/engine.hpp>

#include "device/device_name.hpp"
#include "device/hardware.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace llamavisor {

namespace {

std::vector<std::string> flavours_here(const DiscoveryOptions& options) {
  if (options.assume_engines) return *options.assume_engines;
  std::vector<std::string> flavours;
  for (const auto& engine : find_engines())
    flavours.push_back(engine.flavour);
  return flavours;
}

/// Discrete CUDA, discrete ROCm, integrated; then the most free memory, then the lowest number.
auto rank(const Device& device) {
  const auto name = device::parse_device_name(device.name);
  const bool integrated = device.kind == DeviceKind::integrated;
  return std::tuple(integrated, !integrated && name.kind != "cuda", ~device.memory_free,
                    name.number);
}

void find_driver(Device& device, const std::vector<std::string>& flavours) {
  if (device.name.empty()) return;
  const auto flavour = device::parse_device_name(device.name).flavour();
  const bool is_here = std::find(flavours.begin(), flavours.end(), flavour) != flavours.end();
  if (is_here) device.engines.push_back(flavour);
  if (device.reason.empty() && !is_here) {
    device.reason = fmt::format("no {0} engine: get one with tools/get-engine {0}", flavour);
  }
  device.usable = device.reason.empty();
}

std::string describe(const Device& device) {
  return fmt::format("{} ({}, {:.1f} GiB free)", device.name, name(device.kind),
                     static_cast<double>(device.memory_free) / (1ULL << 30));
}

void choose(Devices& devices) {
  std::vector<const Device*> usable;
  for (const auto& device : devices.list) {
    if (device.usable) usable.push_back(&device);
  }
  std::sort(usable.begin(), usable.end(),
            [](const Device* left, const Device* right) { return rank(*left) < rank(*right); });
  if (!usable.empty()) {
    devices.automatic = usable.front()->name;
    devices.why = "the best device that is usable: " + describe(*usable.front());
    if (usable.size() > 1) devices.why += "; next is " + describe(*usable[1]);
    return;
  }
  devices.why = devices.list.empty() ? "no GPU was found" : "no GPU is usable";
  for (const auto& device : devices.list) {
    devices.why +=
        fmt::format("; {}: {}", device.name.empty() ? device.model : device.name, device.reason);
  }
}

}  // namespace

Devices discover_devices(const DiscoveryOptions& options) {
  auto surroundings = device::Surroundings::real(options.root);
  surroundings.node_may_be_absent = options.assume_engines.has_value();
  Devices devices{.list = device::read_hardware(surroundings)};
  const auto flavours = flavours_here(options);
  for (auto& device : devices.list)
    find_driver(device, flavours);
  choose(devices);
  return devices;
}

}  // namespace llamavisor
