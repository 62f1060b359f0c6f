/// \file
/// Whether adapters and a projector are what they should be.
#pragma once

#include <llamavisor/gguf.hpp>

#include "server/launch.hpp"

#include <cstdint>

namespace llamavisor::supervisor {

/// From their headers: the kind of each, and that adapters are for the model's architecture.
/// Whether their shapes fit only the engine knows. Gives back how many bytes they have. Throws
/// `Error`: `model_not_found`, `invalid_model`, or `invalid_option` for a file of another kind.
std::uint64_t check_added_files(const server::ModelPaths& paths, const GgufInfo& model);

}  // namespace llamavisor::supervisor
