/// \file
/// A folder that only this user can enter, for sockets.
#pragma once

#include <filesystem>
#include <string>

namespace llamavisor::supervisor {

/// Made on first use with mode 0700, removed with all its sockets at the end. Move-only.
class PrivateFolder {
 public:
  PrivateFolder() = default;
  PrivateFolder(PrivateFolder&& other) noexcept;
  PrivateFolder& operator=(PrivateFolder&& other) noexcept;
  ~PrivateFolder();

  /// Below `parent`; empty = $XDG_RUNTIME_DIR where it can be written to, else the temporary
  /// folder. Throws `Error` (`invalid_option`) where nothing can be made there.
  static PrivateFolder make(const std::filesystem::path& parent);

  const std::filesystem::path& path() const noexcept { return path_; }
  explicit operator bool() const noexcept { return !path_.empty(); }

 private:
  std::filesystem::path path_;
};

}  // namespace llamavisor::supervisor
