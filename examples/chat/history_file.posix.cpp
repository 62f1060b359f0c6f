#include "history_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

namespace llamavisor::chat {

namespace {

namespace fs = std::filesystem;

/// Relative paths are to be passed over, says the XDG base directory specification.
fs::path absolute_from(const char* variable) {
  const char* value = std::getenv(variable);
  return value && *value == '/' ? fs::path(value) : fs::path();
}

fs::path state_folder() {
  if (auto state = absolute_from("XDG_STATE_HOME"); !state.empty()) return state;
  const auto home = absolute_from("HOME");
  return home.empty() ? home : home / ".local" / "state";
}

/// In one write, so that lines of two chats do not mix.
bool write_new(const fs::path& path, int flags, std::string_view text) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0600);
  if (file < 0) return false;
  const bool whole = ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  ::close(file);
  return whole;
}

}  // namespace

HistoryFile HistoryFile::of_user() {
  const auto state = state_folder();
  if (state.empty()) return HistoryFile({});
  const auto folder = state / "llamavisor";
  std::error_code error;
  fs::create_directories(state, error);
  ::mkdir(folder.c_str(), 0700);
  return HistoryFile(folder / "chat_history");
}

std::vector<std::string> HistoryFile::load() const {
  std::vector<std::string> lines;
  std::ifstream file(path_);
  for (std::string line; std::getline(file, line);)
    lines.push_back(std::move(line));
  if (lines.size() <= most_lines) return lines;
  const bool long_file = lines.size() >= 2 * most_lines;
  lines.erase(lines.begin(), lines.end() - most_lines);
  if (!long_file) return lines;
  std::string text;
  for (const auto& line : lines)
    text += line + '\n';
  auto shorter = path_;
  shorter += ".new";
  std::error_code error;
  if (write_new(shorter, O_TRUNC, text)) fs::rename(shorter, path_, error);
  return lines;
}

void HistoryFile::append(std::string_view line) const {
  if (!path_.empty()) write_new(path_, O_APPEND, std::string(line) + '\n');
}

}  // namespace llamavisor::chat
