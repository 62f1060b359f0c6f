#include "backend/gpu_facts.hpp"

#include "backend/listed_devices.hpp"
#include "backend/missing_code.hpp"
#include "device/hardware.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace llamavisor::backend {

namespace {

Failure no_such_device(const std::string& name, const std::vector<Device>& known) {
  std::vector<std::string> names;
  for (const auto& device : known) {
    if (!device.name.empty()) names.push_back(fmt::format("{} ({})", device.name, device.model));
  }
  return {.code = errc::unknown_device,
          .message = fmt::format("there is no device {}: this machine has {}", name,
                                 fmt::join(names, ", "))};
}

}  // namespace

GpuFacts gpu_facts(const device::DeviceName& device, const Engine& engine) {
  GpuFacts facts;
  if (device.kind != "rocm" && device.kind != "cuda") return facts;
  const auto hardware = device::read_hardware(device::Surroundings::real());
  const bool any = std::any_of(hardware.begin(), hardware.end(), [&](const Device& known) {
    return known.name.starts_with(device.kind + ":");
  });
  if (!any) return facts;
  for (const auto& name : device.each()) {
    const auto known = std::find_if(hardware.begin(), hardware.end(),
                                    [&](const Device& one) { return one.name == name; });
    if (known == hardware.end()) return {.obstacle = no_such_device(name, hardware)};
    auto reason = known->reason.empty() ? missing_code(engine, *known) : known->reason;
    if (!reason.empty()) {
      return {.obstacle = Failure{.code = errc::device_unusable,
                                  .message = fmt::format("{}: {}", name, reason)}};
    }
    facts.visible.push_back(visible_as(*known));
  }
  return facts;
}

}  // namespace llamavisor::backend
