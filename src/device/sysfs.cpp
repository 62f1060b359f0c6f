#include "device/sysfs.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

namespace llamavisor::device {

namespace fs = std::filesystem;

std::string small_text(const fs::path& file) {
  constexpr std::size_t most = 64 << 10;
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (descriptor < 0) return {};
  std::string text;
  std::array<char, 4096> block;
  struct stat status {};
  const bool is_file = ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
  while (is_file && text.size() < most) {
    const auto count = ::read(descriptor, block.data(), block.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    text.append(block.data(), static_cast<std::size_t>(count));
  }
  ::close(descriptor);
  return text;
}

std::string first_line(const fs::path& file) {
  auto text = small_text(file);
  text.resize(std::min(text.find('\n'), text.size()));
  return text;
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
