#include <llamavisor/device.hpp>
#include <llamavisor/engine.hpp>

#include "backend/missing_code.hpp"
#include "device/device_name.hpp"
#include "device/hardware.hpp"
#include "device/quarantine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace llamavisor {

namespace {

std::vector<Engine> engines_here(const DiscoveryOptions& options) {
  if (!options.assume_engines) return find_engines();
  std::vector<Engine> engines;
  for (const auto& flavour : *options.assume_engines)
    engines.push_back({.flavour = flavour});
  return engines;
}

/// Discrete CUDA, discrete ROCm, integrated; then the most free memory, then the lowest number.
auto rank(const Device& device) {
  const auto name = device::parse_device_name(device.name);
  const bool integrated = device.kind == DeviceKind::integrated;
  return std::tuple(integrated, !integrated && name.kind != "cuda", ~device.memory_free,
                    name.number);
}

/// A load takes the first engine of a flavour, so that one counts.
void find_driver(Device& device, const std::vector<Engine>& engines) {
  if (device.name.empty()) return;
  const auto flavour = device::parse_device_name(device.name).flavour();
  const auto engine = std::find_if(engines.begin(), engines.end(), [&](const Engine& candidate) {
    return candidate.flavour == flavour;
  });
  auto reason = engine == engines.end()
                    ? fmt::format("no {0} engine: get one with tools/get-engine {0}", flavour)
                    : backend::missing_code(*engine, device);
  if (reason.empty() && device::Quarantine().holds(device.name, flavour, engine->build)) {
    reason =
        "it failed so hard that it is quarantined until the next boot, or until: llamavisor doctor "
        "--clear";
  }
  if (reason.empty()) device.engines.push_back(flavour);
  if (device.reason.empty()) device.reason = std::move(reason);
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

std::vector<QuarantinedDevice> quarantined_devices() {
  std::vector<QuarantinedDevice> devices;
  for (auto& entry : device::Quarantine().list()) {
    devices.push_back({.device = std::move(entry.device),
                       .engine = std::move(entry.engine),
                       .build = entry.build,
                       .cause = std::move(entry.cause),
                       .message = std::move(entry.message),
                       .time = std::move(entry.time)});
  }
  return devices;
}

void clear_quarantine() {
  device::Quarantine().clear();
}

Devices discover_devices(const DiscoveryOptions& options) {
  auto surroundings = device::Surroundings::real(options.root);
  surroundings.node_may_be_absent = options.assume_engines.has_value();
  Devices devices{.list = device::read_hardware(surroundings)};
  const auto engines = engines_here(options);
  for (auto& device : devices.list)
    find_driver(device, engines);
  choose(devices);
  return devices;
}

}  // namespace llamavisor
