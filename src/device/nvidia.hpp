/// \file
/// NVIDIA's GPUs, as its driver lists them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace llamavisor::device {

struct NvidiaGpu {
  std::string pci{};  ///< "0000:01:00.0"
  std::string model{};
  std::string uuid{};  ///< "GPU-..."; empty where the driver does not tell
};

/// By PCI address; none where the driver is not loaded. `root` holds `proc/`.
std::vector<NvidiaGpu> read_nvidia_gpus(const std::filesystem::path& root);

}  // namespace llamavisor::device
