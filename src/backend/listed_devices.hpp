/// \file
/// The second layer of discovery: what the engines themselves say.
#pragma once

#include <llamavisor/device.hpp>
#include <llamavisor/engine.hpp>

#include <string>
#include <vector>

namespace llamavisor::backend {

/// Asks those engines for their devices that have any reason to be asked, and adds what they
/// answer: a ROCm or CUDA device that its engine does not list is not usable any more, and gets
/// what the kernel does not tell of it; Vulkan's devices come to `devices`, before those that have
/// no name. An engine of a flavour is the first one in `engines`. Says which engine of those that
/// could have more devices does not answer, and why; empty where all do.
std::string add_what_engines_list(std::vector<Device>& devices, const std::vector<Engine>& engines,
                                  const DiscoveryOptions& options);

/// How a child is to see this device alone: its UUID, else its number.
std::string visible_as(const Device& device);

}  // namespace llamavisor::backend
