#include "device/sysfs.hpp"

#include <algorithm>
#include <fstream>
#include <system_error>

namespace llamavisor::device {

namespace fs = std::filesystem;

std::string first_line(const fs::path& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

std::optional<std::uint64_t> read_number(const fs::path& file) {
  const auto line = first_line(file);
  const std::string_view text = line;
  if (text.starts_with("0x")) return parse_number<std::uint64_t>(text.substr(2), 16);
  return parse_number<std::uint64_t>(text);
}

std::vector<fs::path> entries(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  const fs::directory_iterator end;
  for (fs::directory_iterator entry(folder, error); !error && entry != end; entry.increment(error))
    found.push_back(entry->path());
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace llamavisor::device
