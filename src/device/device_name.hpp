/// \file
/// Names of devices, as hosts write them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace llamavisor::device {

/// "rocm:1", "rocm:0,rocm:1": which kind of device, and which of them.
struct DeviceName {
  std::string kind{};           ///< "auto", "cpu", "cuda", "rocm", "vulkan"
  std::vector<int> numbers{0};  ///< as they were written, each once

  /// The engine flavour that drives it: "cpu", "cuda", "hip", "vulkan".
  std::string flavour() const;

  /// "cpu", "rocm:1", "rocm:0,rocm:1".
  std::string text() const;

  /// The name of each: "rocm:0" and "rocm:1"; "cpu".
  std::vector<std::string> each() const;
};

/// Reads a name, or several of one kind with commas between; case does not matter, "hip" is "rocm",
/// a missing number is 0. Throws `Error` (`unknown_device`) that says what a name may be.
DeviceName parse_device_name(std::string_view text);

}  // namespace llamavisor::device
