/// \file
/// What the kernel's display driver says of an AMD GPU's memory.
#pragma once

#include <llamavisor/device.hpp>

#include <cstdint>
#include <filesystem>
#include <string>

namespace llamavisor::device {

struct DrmFacts {
  std::string product{};  ///< what the card calls itself; empty where it does not
  DeviceKind kind = DeviceKind::discrete;
  bool kind_is_guess = true;
  std::uint64_t memory_total = 0;  ///< bytes; of an integrated GPU the carve-out and the GTT
  std::uint64_t memory_free = 0;
};

/// `folder` is `<root>/sys/class/drm/renderD<minor>/device`.
///
/// An integrated GPU has no `board_info`, and its `mem_info_vram_vendor` is absent or "unknown".
/// Older kernels show a vendor on integrated ones too, and no `board_info` on cards: where only one
/// of the two is there, the sizes decide, and that is a guess.
DrmFacts read_drm(const std::filesystem::path& folder);

}  // namespace llamavisor::device
