/// \file
/// Whether a file is still the one that it was.
#pragma once

#include <cstdint>
#include <filesystem>

namespace llamavisor::supervisor {

/// Device, inode, size and time of change; all zero for a file that is not there.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t size = 0;
  std::int64_t changed_s = 0;
  std::int64_t changed_ns = 0;

  static FileIdentity of(const std::filesystem::path& file);

  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

}  // namespace llamavisor::supervisor
