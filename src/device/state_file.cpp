#include "device/state_file.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <mutex>

namespace llamavisor::device {

namespace {

constexpr std::size_t max_file = 1 << 20;

std::error_code last_error() {
  return {errno, std::generic_category()};
}

std::error_code write_file(const std::filesystem::path& file, std::string_view content) {
  const int descriptor =
      ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0600);
  if (descriptor < 0) return last_error();
  std::error_code error;
  while (!error && !content.empty()) {
    const auto written = ::write(descriptor, content.data(), content.size());
    if (written >= 0) {
      content.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno != EINTR) {
      error = last_error();
    }
  }
  if (!error && ::fsync(descriptor) != 0) error = last_error();
  if (::close(descriptor) != 0 && !error) error = last_error();
  return error;
}

}  // namespace

std::filesystem::path user_folder(const char* variable, std::string_view below_home) {
  if (const char* folder = std::getenv(variable); folder && *folder == '/') {
    return std::filesystem::path(folder) / "llamavisor";
  }
  const char* home = std::getenv("HOME");
  return std::filesystem::path(home && *home ? home : "/") / below_home / "llamavisor";
}

std::string read_state_file(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::string content(max_file, '\0');
  stream.read(content.data(), static_cast<std::streamsize>(content.size()));
  content.resize(static_cast<std::size_t>(std::max<std::streamsize>(stream.gcount(), 0)));
  return content;
}

std::error_code replace_file(const std::filesystem::path& file, std::string_view content) {
  static std::mutex mutex;  // two threads do not write into each other's
  const std::lock_guard lock(mutex);
  std::error_code error;
  std::filesystem::create_directories(file.parent_path(), error);
  const std::filesystem::path aside = file.string() + fmt::format(".{}", ::getpid());
  error = write_file(aside, content);
  if (!error) std::filesystem::rename(aside, file, error);
  std::error_code ignored;
  if (error) std::filesystem::remove(aside, ignored);
  return error;
}

}  // namespace llamavisor::device
