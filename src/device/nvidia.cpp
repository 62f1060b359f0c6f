#include "device/nvidia.hpp"

#include "device/sysfs.hpp"

#include <sstream>
#include <string_view>

namespace llamavisor::device {

namespace {

/// Of a line "Model: \t\t NVIDIA H200"; empty where it has another key.
std::string value_of(std::string_view line, std::string_view key) {
  if (!line.starts_with(key) || !line.substr(key.size()).starts_with(':')) return {};
  line.remove_prefix(key.size() + 1);
  const auto begin = line.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return std::string(line.substr(begin, line.find_last_not_of(" \t\r") + 1 - begin));
}

}  // namespace

std::vector<NvidiaGpu> read_nvidia_gpus(const std::filesystem::path& root) {
  std::vector<NvidiaGpu> gpus;
  for (const auto& folder : entries(root / "proc/driver/nvidia/gpus")) {
    NvidiaGpu gpu{.pci = folder.filename().string()};
    std::istringstream file(small_text(folder / "information"));
    for (std::string line; std::getline(file, line);) {
      if (auto model = value_of(line, "Model"); !model.empty()) gpu.model = std::move(model);
      // Of a GPU that is not initialised it has question marks.
      auto uuid = value_of(line, "GPU UUID");
      if (uuid.starts_with("GPU-") && uuid.find('?') == std::string::npos)
        gpu.uuid = std::move(uuid);
    }
    gpus.push_back(std::move(gpu));
  }
  return gpus;
}

}  // namespace llamavisor::device
