/// \file
/// The lines of earlier chats.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace llamavisor::chat {

/// A text file to which each line is appended as it is typed, so that two chats at a time do not
/// overwrite each other's. It is a convenience: what goes wrong with it is passed over.
class HistoryFile {
 public:
  static constexpr std::size_t most_lines = 1000;

  /// In ${XDG_STATE_HOME:-~/.local/state}/llamavisor/, which is made where it does not exist. The
  /// lines are the user's own: nobody else may read them.
  static HistoryFile of_user();

  /// The last ones, oldest first. Shortens a file that has grown to twice as many.
  std::vector<std::string> load() const;
  void append(std::string_view line) const;

 private:
  explicit HistoryFile(std::filesystem::path path) : path_(std::move(path)) {}

  std::filesystem::path path_;  // empty: there is no place for it
};

}  // namespace llamavisor::chat
