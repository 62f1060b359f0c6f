/// \file
/// Whether an engine has code for a GPU.
#pragma once

#include <llamavisor/device.hpp>
#include <llamavisor/engine.hpp>

#include <string>

namespace llamavisor::backend {

/// Why not; empty where it has, or where only a try can tell: the engine's targets are not known.
/// What HSA_OVERRIDE_GFX_VERSION makes of the GPU is what counts.
std::string missing_code(const Engine& engine, const Device& device);

}  // namespace llamavisor::backend
