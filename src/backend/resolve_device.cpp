#include "backend/resolve_device.hpp"

#include <llamavisor/error.hpp>

#include <fmt/format.h>

#include <cstdlib>

namespace llamavisor::backend {

device::DeviceName resolve_device(std::string_view asked, std::string_view kind) {
  auto device = device::parse_device_name(asked);
  if (device.kind == "auto" && !kind.empty()) return device::parse_device_name(kind);
  if (device.kind == "auto") {
    const char* wish = std::getenv("LLAMAVISOR_DEVICE");
    if (wish && *wish) device = device::parse_device_name(wish);
  }
  if (device.kind == "auto") return {.kind = "cpu"};
  if (!kind.empty() && device.kind != kind) {
    throw Error(errc::unknown_device,
                fmt::format("the backend {} cannot load on device {}", kind, device.text()));
  }
  return device;
}

}  // namespace llamavisor::backend
