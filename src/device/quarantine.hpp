/// \file
/// Devices that failed so hard that a second try may hang the machine.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace llamavisor::device {

/// One device with one engine build, until the next boot.
struct QuarantineEntry {
  std::string device{};  ///< "rocm:0", "vulkan:0"
  std::string engine{};  ///< flavour
  int build = 0;
  std::string cause{};  ///< "device_lost", ...
  std::string message{};
  std::string time{};  ///< UTC, ISO 8601
};

/// The list, kept in the user's state folder and shared between hosts. Entries of an earlier boot
/// do not count. Safe between processes; what cannot be read counts as empty, since a damaged list
/// must not keep a model from loading.
class Quarantine {
 public:
  /// `folder` empty: `${XDG_STATE_HOME:-~/.local/state}/llamavisor`. `root` holds `proc/`.
  explicit Quarantine(std::filesystem::path folder = {}, const std::filesystem::path& root = "/");

  std::vector<QuarantineEntry> list() const;
  bool holds(std::string_view device, std::string_view engine, int build) const;

  /// Where the file cannot be written (a full disk, a missing right) the old one stays as it is,
  /// the entry holds for this process only, and the error says why.
  std::error_code add(QuarantineEntry entry);

  /// Lifts all of it.
  void clear();

  std::filesystem::path file() const { return folder_ / "quarantine.json"; }

 private:
  std::vector<QuarantineEntry> read() const;
  std::error_code write(const std::vector<QuarantineEntry>& entries) const;

  std::filesystem::path folder_;
  std::string boot_id_;
};

}  // namespace llamavisor::device
