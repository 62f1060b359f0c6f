/// \file
/// Lists of folders, as the environment has them.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <vector>

namespace llamavisor::engine {

/// The parts between ':', without empty ones.
inline std::vector<std::filesystem::path> split_paths(std::string_view list) {
  std::vector<std::filesystem::path> parts;
  for (std::size_t at = 0; at <= list.size();) {
    const auto end = std::min(list.find(':', at), list.size());
    if (end > at) parts.emplace_back(list.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

}  // namespace llamavisor::engine
