/// \file
/// The limits of this process's control group (version 2).
#pragma once

#include <filesystem>
#include <functional>

namespace llamavisor::device {

/// Calls back with the folder of this process's group, and of each group above it.
void for_each_cgroup(const std::filesystem::path& root,
                     const std::function<void(const std::filesystem::path& folder)>& visit);

}  // namespace llamavisor::device
