/// \file
/// GPUs that only a Vulkan engine lists.
#pragma once

#include <llamavisor/device.hpp>

#include "server/device_list.hpp"

#include <span>
#include <vector>

namespace llamavisor::backend {

/// What a Vulkan engine lists, as devices. The engine gives no PCI address, so each is looked for
/// among `hardware` by vendor, by what both call it, by the instruction set in an AMD driver's name
/// and by its memory. One that is found has the card's kind, address and UUID; where several
/// cards are alike, the addresses of all. Of one that is not found the kind is a guess.
std::vector<Device> vulkan_devices(std::span<const server::ListedDevice> listed,
                                   std::span<const Device> hardware);

}  // namespace llamavisor::backend
