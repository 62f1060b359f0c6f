/// \file
/// What `llama-server --list-devices` prints.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace llamavisor::server {

/// One device, as an engine lists it.
struct ListedDevice {
  std::string name{};   ///< "vulkan:0"; of a kind that llamavisor does not drive as it is: "BLAS"
  std::string model{};  ///< "llvmpipe (LLVM 21.1.8, 256 bits)"
  std::uint64_t memory_total = 0;  ///< bytes, in steps of a MiB; 0 where it does not say
  std::uint64_t memory_free = 0;   ///< bytes, at most `memory_total`

  bool operator==(const ListedDevice&) const = default;
};

/// Reads "  Vulkan0: llvmpipe (LLVM 21.1.8, 256 bits) (24105 MiB, 23718 MiB free)" and its like,
/// below the line "Available devices:".
std::vector<ListedDevice> read_device_list(std::span<const std::string> lines);

/// For the end of a message: "it lists vulkan:0 (...), vulkan:1 (...)", "it lists none".
std::string describe_device_list(const std::vector<ListedDevice>& devices);

}  // namespace llamavisor::server
