/// \file
/// What `llama-server --list-devices` prints.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace llamavisor::server {

/// Reads "  Vulkan0: llvmpipe (LLVM 21.1.8, 256 bits) (24105 MiB, 23718 MiB free)" and its like,
/// below the line "Available devices:". Gives "vulkan:0 (llvmpipe (LLVM 21.1.8, 256 bits))"; a name
/// of a kind that llamavisor does not drive comes as it is.
std::vector<std::string> read_device_list(std::span<const std::string> lines);

/// For the end of a message: "it lists vulkan:0 (...), vulkan:1 (...)", "it lists none".
std::string describe_device_list(const std::vector<std::string>& devices);

}  // namespace llamavisor::server
