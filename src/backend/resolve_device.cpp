#include "backend/resolve_device.hpp"

#include <llamavisor/device.hpp>
#include <llamavisor/error.hpp>

#include <fmt/format.h>

#include <cstdlib>

namespace llamavisor::backend {

device::DeviceName resolve_device(std::string_view asked, std::string_view kind) {
  auto device = device::parse_device_name(asked);
  if (device.kind == "auto") {
    const char* wish = std::getenv("LLAMAVISOR_DEVICE");
    if (wish && *wish) device = device::parse_device_name(wish);
    // The wish of the environment stands in for "auto" only, and gives way to a backend's own kind.
    if (!kind.empty() && device.kind != kind) return device::parse_device_name(kind);
    if (device.kind == "auto") return device::parse_device_name(discover_devices().automatic);
    return device;
  }
  if (!kind.empty() && device.kind != kind) {
    throw Error(errc::unknown_device,
                fmt::format("the backend {} cannot load on device {}", kind, device.text()));
  }
  return device;
}

bool is_auto(std::string_view asked) {
  return device::parse_device_name(asked).kind == "auto";
}

}  // namespace llamavisor::backend
