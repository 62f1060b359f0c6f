/// \file
/// Which device a load is for.
#pragma once

#include "device/device_name.hpp"

#include <string_view>

namespace llamavisor::backend {

/// The device that a load asks for. "auto" is what LLAMAVISOR_DEVICE names, and where it
/// names nothing the best that `discover_devices` finds, at the worst the CPU; with `kind` (a
/// backend's own), "auto" is that kind's first device, and a device of another kind throws
/// `unknown_device`.
device::DeviceName resolve_device(std::string_view asked, std::string_view kind = {});

/// Whether a load named no device: "auto", in any case.
bool is_auto(std::string_view asked);

}  // namespace llamavisor::backend
