/// \file
/// One step of the ladder, as the supervisor spawns it.
#pragma once

#include <llamavisor/gguf.hpp>
#include <llamavisor/load_options.hpp>

#include "server/launch.hpp"
#include "server/load_log.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace llamavisor::supervisor {

/// One step of the ladder, with all that a spawn needs.
struct RungSpec {
  server::ServerSpec server{};
  bool quarantined = false;

  // What the caller asked for, since `server` may be made smaller.
  int asked_context = 0;            ///< as `LoadOptions::context_length`
  std::optional<int> asked_layers;  ///< as `LoadOptions::gpu_layers`

  // What the model's file says.
  int trained_context = 0;             ///< tokens; 0 = not known
  int layers = 0;                      ///< that can be on a GPU
  std::uint64_t memory_fixed = 0;      ///< bytes of the host's memory; 0 = not checked
  std::uint64_t memory_per_token = 0;  ///< and for each token of context of each slot

  /// Bytes of the host's memory; 0 = not known.
  std::uint64_t memory_need() const;
};

/// Takes over what the file says, and makes the rung as large as it was asked to be. `added`: bytes
/// of the files that are loaded with it.
void fit_to_file(RungSpec& rung, const GgufInfo& file, std::uint64_t added = 0);

/// As large as it was asked to be.
void make_full(RungSpec& rung);

/// Whether `make_smaller` can do anything for it.
bool can_be_smaller(const RungSpec& rung, OutOfMemory remedy);

/// Makes the next load smaller: half of the context, or fewer layers on the GPU (as many as fit
/// instead of all, where the engine can find that out, else half). `logged` is what the load that
/// failed had put on the GPU. Says what was done, in words.
std::string make_smaller(RungSpec& rung, OutOfMemory remedy,
                         const std::optional<server::OffloadedLayers>& logged);

}  // namespace llamavisor::supervisor
