/// \file
/// AMD's GPUs, as the kernel's compute driver (KFD) lists them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace llamavisor::device {

/// A GPU node of KFD's topology.
struct KfdNode {
  int id = 0;  ///< of all nodes, those of processors counted
  std::string gfx{};
  std::string pci{};             ///< "0000:03:00.0"
  std::string uuid{};            ///< "GPU-" and 16 digits; empty where the GPU has none
  std::uint64_t device_id{};     ///< of PCI
  std::uint64_t render_minor{};  ///< 128: /dev/dri/renderD128; 0 where there is none
};

/// Those that can be read, in numeric order; a broken node, or one that a container may not read,
/// is passed over. `root` holds `sys/`.
std::vector<KfdNode> read_kfd_nodes(const std::filesystem::path& root);

}  // namespace llamavisor::device
