/// \file
/// When servers of this process have last left a device.
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace llamavisor::device {

/// One register for the whole process, since models share devices: a driver may give the memory of
/// one model's server back only when the next model's is loading. Any thread. A card that has two
/// names ("rocm:0", "vulkan:0") is two devices here.
class Departures {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// A process that held memory of the device has ended.
  static void note(const std::string& device, Time when);

  /// Unset where none has.
  static std::optional<Time> last(const std::string& device);
};

}  // namespace llamavisor::device
