/// \file
/// How much memory a process may still take here.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace llamavisor::device {

/// Bytes that may be taken without swapping or being killed: the kernel's MemAvailable, or what the
/// cgroup's limit leaves, whichever is less. Unset where neither can be read. `root` holds `proc/`
/// and `sys/`.
std::optional<std::uint64_t> available_memory(const std::filesystem::path& root = "/");

}  // namespace llamavisor::device
