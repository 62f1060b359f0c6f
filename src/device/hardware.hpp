/// \file
/// The GPUs of a machine, from files alone, before any engine is looked for.
#pragma once

#include <llamavisor/device.hpp>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llamavisor::device {

/// Where to look; what a test replaces.
struct Surroundings {
  std::filesystem::path root{"/"};
  bool node_may_be_absent = false;  ///< a device node that is not there stands in nobody's way

  /// A variable of the environment; and all of them.
  std::function<std::optional<std::string>(const std::string& name)> variable;
  std::function<void(const std::function<void(std::string_view, std::string_view)>&)> variables;

  /// Whether this user may open a node for reading and writing.
  std::function<bool(const std::filesystem::path& node)> may_open;

  /// This machine and this process.
  static Surroundings real(std::filesystem::path root = "/");
};

/// CUDA's by number, ROCm's by number, then what no driver has taken. `reason` is set where the
/// hardware, its access or the environment stands in the way; engines are for the caller. Throws
/// what `GfxOverrides::read` throws.
std::vector<Device> read_hardware(const Surroundings& surroundings);

}  // namespace llamavisor::device
