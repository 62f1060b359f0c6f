#include "device/quarantine.hpp"

#include <boost/json.hpp>
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace llamavisor::device {

namespace json = boost::json;

namespace {

constexpr std::size_t max_file = 1 << 20;

std::filesystem::path state_folder() {
  if (const char* state = std::getenv("XDG_STATE_HOME"); state && *state == '/') {
    return std::filesystem::path(state) / "llamavisor";
  }
  const char* home = std::getenv("HOME");
  return std::filesystem::path(home && *home ? home : "/") / ".local/state/llamavisor";
}

std::string read_line(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

/// Keeps other hosts out while the list is changed.
class FileLock {
 public:
  explicit FileLock(const std::filesystem::path& file)
      : descriptor_(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
    if (descriptor_ >= 0) ::flock(descriptor_, LOCK_EX);
  }
  ~FileLock() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int descriptor_;
};

std::string text(const json::object& object, std::string_view key) {
  const auto* value = object.if_contains(key);
  return value && value->is_string() ? std::string(value->get_string()) : std::string{};
}

}  // namespace

Quarantine::Quarantine(std::filesystem::path folder, const std::filesystem::path& root)
    : folder_(folder.empty() ? state_folder() : std::move(folder)),
      boot_id_(read_line(root / "proc/sys/kernel/random/boot_id")) {}

std::vector<QuarantineEntry> Quarantine::list() const {
  std::ifstream stream(file(), std::ios::binary);
  std::string content(max_file, '\0');
  stream.read(content.data(), static_cast<std::streamsize>(content.size()));
  content.resize(static_cast<std::size_t>(std::max<std::streamsize>(stream.gcount(), 0)));
  json::error_code error;
  const auto value = json::parse(content, error);
  std::vector<QuarantineEntry> entries;
  if (error || !value.is_object()) return entries;
  const auto* list = value.get_object().if_contains("entries");
  if (!list || !list->is_array()) return entries;
  for (const auto& item : list->get_array()) {
    const auto* object = item.if_object();
    if (!object || text(*object, "boot_id") != boot_id_) continue;
    const auto* build = object->if_contains("build");
    entries.push_back(
        {.device = text(*object, "device"),
         .engine = text(*object, "engine"),
         .build = build && build->is_int64() ? static_cast<int>(build->get_int64()) : 0,
         .cause = text(*object, "cause"),
         .message = text(*object, "message"),
         .time = text(*object, "time")});
  }
  return entries;
}

bool Quarantine::holds(std::string_view device, std::string_view engine, int build) const {
  const auto entries = list();
  return std::any_of(entries.begin(), entries.end(), [&](const QuarantineEntry& entry) {
    return entry.device == device && entry.engine == engine && entry.build == build;
  });
}

bool Quarantine::add(QuarantineEntry entry) {
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  const FileLock lock(folder_ / "quarantine.lock");
  auto entries = list();
  std::erase_if(entries, [&](const QuarantineEntry& old) {
    return old.device == entry.device && old.engine == entry.engine && old.build == entry.build;
  });
  entry.time = fmt::format(
      "{:%FT%TZ}",
      fmt::gmtime(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())));
  entries.push_back(std::move(entry));
  return write(entries);
}

void Quarantine::clear() {
  const FileLock lock(folder_ / "quarantine.lock");
  std::error_code ignored;
  std::filesystem::remove(file(), ignored);
}

bool Quarantine::write(const std::vector<QuarantineEntry>& entries) const {
  json::array list;
  for (const auto& entry : entries) {
    list.push_back(json::object{{"boot_id", boot_id_},
                                {"device", entry.device},
                                {"engine", entry.engine},
                                {"build", entry.build},
                                {"cause", entry.cause},
                                {"message", entry.message},
                                {"time", entry.time}});
  }
  // Made aside and renamed: a reader sees the old list or the new one.
  const auto aside = file().string() + fmt::format(".{}", ::getpid());
  {
    std::ofstream stream(aside, std::ios::binary | std::ios::trunc);
    stream << json::serialize(json::object{{"entries", std::move(list)}}) << '\n';
    if (!stream.flush()) return false;
  }
  std::error_code error;
  std::filesystem::rename(aside, file(), error);
  return !error;
}

}  // namespace llamavisor::device
