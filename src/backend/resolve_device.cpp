#include "backend/resolve_device.hpp"

#include <llamavisor/device.hpp>
#include <llamavisor/engine.hpp>
#include <llamavisor/error.hpp>

#include "backend/discover_with.hpp"
#include "backend/rank_devices.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

namespace llamavisor::backend {

namespace {

/// The best one that is usable; where none is, the first, whose load says why.
device::DeviceName best_of(const std::string& kind, const std::vector<Engine>& engines,
                           std::chrono::milliseconds limit) {
  const auto devices =
      discover_with(engines, {.ask_engines = AskEngines::when_not_known, .engine_limit = limit});
  for (const auto* device : rank_devices(devices.list)) {
    auto name = device::parse_device_name(device->name);
    if (name.kind == kind) return name;
  }
  return {.kind = kind};
}

}  // namespace

device::DeviceName resolve_device(const LoadOptions& options, std::string_view backend) {
  auto device = device::parse_device_name(options.device);
  std::string kind(backend);
  if (device.kind != "auto") {
    if (kind.empty() || device.kind == kind) return device;
    throw Error(errc::unknown_device,
                fmt::format("the backend {} cannot load on device {}", kind, device.text()));
  }
  const auto engines =
      options.engine.empty() ? find_engines() : std::vector{read_engine(options.engine)};
  if (kind.empty() && !options.engine.empty()) {
    kind = engines.front().flavour == "hip" ? "rocm" : engines.front().flavour;
  }
  const char* wish = std::getenv("LLAMAVISOR_DEVICE");
  if (wish && *wish) device = device::parse_device_name(wish);
  // The wish of the environment stands in for "auto" only, and gives way to what is fixed already.
  if (device.kind != "auto" && (kind.empty() || device.kind == kind)) return device;
  if (kind == "cpu") return {.kind = kind};
  if (!kind.empty()) return best_of(kind, engines, options.limits.device_list);
  return device::parse_device_name(
      discover_with(engines, {.ask_engines = AskEngines::when_not_known,
                              .engine_limit = options.limits.device_list})
          .automatic);
}

bool is_auto(std::string_view asked) {
  return device::parse_device_name(asked).kind == "auto";
}

}  // namespace llamavisor::backend
