// A disk that is really full.
#pragma once

#include "test_folder.hpp"

#include <sys/types.h>

#include <filesystem>

namespace llamavisor::faults {

/// A small file system in memory of which this test alone knows: a child mounts it in a mount
/// namespace of its own (an ordinary user in a user namespace), and it is reached through /proc.
class FullDisk {
 public:
  FullDisk();
  ~FullDisk();
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

  /// False where this user may not mount, even so: then `path()` is a folder that takes no new file
  /// from anybody, root included, though for another reason.
  bool mounted() const noexcept { return keeper_ > 0; }
  const std::filesystem::path& path() const noexcept { return path_; }

  /// Takes all the room there is, but for so many files or folders, which then have to be empty.
  void fill(int but_for = 0) const;
  /// All the room is there again.
  void make_room() const;

 private:
  testing::TestFolder folder_;
  pid_t keeper_ = -1;
  int alive_ = -1;  ///< closed: the keeper ends
  std::filesystem::path path_;
};

}  // namespace llamavisor::faults
