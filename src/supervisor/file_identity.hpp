/// \file
/// Whether a file is still the one that it was.
#pragma once

#include <cstdint>
#include <filesystem>
#include <utility>

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

/// A file, and what it was.
struct KnownFile {
  std::filesystem::path path{};
  FileIdentity identity{};

  static KnownFile of(std::filesystem::path path) {
    const auto identity = FileIdentity::of(path);
    return {std::move(path), identity};
  }

  bool is_unchanged() const { return FileIdentity::of(path) == identity; }
};

}  // namespace llamavisor::supervisor
