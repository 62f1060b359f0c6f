/// \file
/// Which GPUs the environment lets programs see.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llamavisor::device {

/// Reads a list such as "0,GPU-1f2e3d4c5b6a7988" over GPUs with these UUIDs, as ROCm and CUDA do:
/// positions, or UUIDs or beginnings of them; the first entry that names none, or one a second
/// time, ends the list. Positions of those that are seen, in the list's order; all of them where it
/// is unset.
std::vector<std::size_t> seen_through(const std::optional<std::string>& list,
                                      const std::vector<std::string>& uuids);

}  // namespace llamavisor::device
