/// \file
/// How many threads a CPU engine should have here.
#pragma once

#include <filesystem>

namespace llamavisor::device {

/// Physical cores that this process may use: its affinity, two hardware threads of one core
/// counted once, and no more than the cgroup's quota, rounded down; at least 1. `root` holds
/// `sys/` and `proc/`.
int usable_cores(const std::filesystem::path& root = "/");

}  // namespace llamavisor::device
