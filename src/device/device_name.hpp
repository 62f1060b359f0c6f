/// \file
/// Names of devices, as hosts write them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace llamavisor::device {

/// "rocm:1": which kind of device, and which of them.
struct DeviceName {
  std::string kind{};  ///< "auto", "cpu", "cuda", "rocm", "vulkan"
  int number = 0;

  /// The engine flavour that drives it: "cpu", "cuda", "hip", "vulkan".
  std::string flavour() const;

  /// "cpu", "rocm:1".
  std::string text() const;
};

/// Reads a name; case does not matter, "hip" is "rocm", a missing number is 0. Throws `Error`
/// (`unknown_device`) with the names that there are.
DeviceName parse_device_name(std::string_view text);

}  // namespace llamavisor::device
