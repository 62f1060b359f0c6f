#include <llamavisor/device.hpp>
#include <llamavisor/engine.hpp>

#include "backend/discover_with.hpp"
#include "backend/listed_devices.hpp"
#include "backend/missing_code.hpp"
#include "backend/rank_devices.hpp"
#include "device/device_name.hpp"
#include "device/hardware.hpp"
#include "device/quarantine.hpp"

#include <fmt/format.h>

#include <algorithm>
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
  auto usable = backend::rank_devices(devices.list);
  std::erase_if(usable, [](const Device* one) { return one->kind == DeviceKind::software; });
  if (!usable.empty()) {
    devices.automatic = usable.front()->name;
    devices.why = "the best device that is usable: " + describe(*usable.front());
    if (usable.size() > 1) devices.why += "; next is " + describe(*usable[1]);
    return;
  }
  devices.why = devices.list.empty() ? "no GPU was found" : "no GPU is usable";
  for (const auto& device : devices.list) {
    devices.why += fmt::format(
        "; {}: {}", device.name.empty() ? device.model : device.name,
        device.usable ? "it renders in software, more slowly than the CPU engine" : device.reason);
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
  return backend::discover_with(engines_here(options), options);
}

Devices backend::discover_with(const std::vector<Engine>& engines,
                               const DiscoveryOptions& options) {
  auto surroundings = device::Surroundings::real(options.root);
  surroundings.node_may_be_absent = options.assume_engines.has_value();
  Devices devices{.list = device::read_hardware(surroundings)};
  for (auto& device : devices.list)
    find_driver(device, engines);
  std::string silent;
  if (options.ask_engines != AskEngines::no && !options.assume_engines) {
    silent = backend::add_what_engines_list(devices.list, engines, options);
    for (auto& device : devices.list) {
      if (device.name.starts_with("vulkan:")) find_driver(device, engines);
    }
  }
  choose(devices);
  if (!silent.empty()) devices.why += "; " + silent;
  return devices;
}

}  // namespace llamavisor
