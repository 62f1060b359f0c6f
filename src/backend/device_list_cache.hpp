/// \file
/// What engines have answered when they were asked for their devices.
#pragma once

#include "server/device_list.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llamavisor::backend {

/// Answers by a key that names the engine's build and the hardware, in the user's state folder;
/// shared by all hosts, without a lock: of two that write at once one loses its answer, and asks
/// again. What cannot be read counts as empty, and what cannot be written is not kept.
class DeviceListCache {
 public:
  /// `file` empty: `${XDG_STATE_HOME:-~/.local/state}/llamavisor/device-lists.json`.
  explicit DeviceListCache(std::filesystem::path file = {});

  std::optional<std::vector<server::ListedDevice>> find(std::string_view key) const;

  struct Entry {
    std::string key{};
    std::vector<server::ListedDevice> devices{};
  };

  /// The newest 64 are kept.
  void keep(std::vector<Entry> entries) const;

 private:
  std::vector<Entry> read() const;

  std::filesystem::path file_;
};

}  // namespace llamavisor::backend
