/// \file
/// Which device a load is for.
#pragma once

#include <llamavisor/load_options.hpp>

#include "device/device_name.hpp"

#include <string_view>

namespace llamavisor::backend {

/// The device that a load asks for. "auto" is what LLAMAVISOR_DEVICE names, and where it names
/// nothing the best that is usable, at the worst the CPU. With `backend` (a kind of device) or an
/// engine that is named, "auto" is the best of that kind, usable or not, and a device of another
/// kind than `backend` throws `unknown_device`.
device::DeviceName resolve_device(const LoadOptions& options, std::string_view backend);

/// Whether a load named no device: "auto", in any case.
bool is_auto(std::string_view asked);

}  // namespace llamavisor::backend
