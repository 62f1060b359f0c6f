#include "device/quarantine.hpp"

#include "device/state_file.hpp"
#include "device/sysfs.hpp"

#include <boost/json.hpp>
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>

namespace llamavisor::device {

namespace json = boost::json;

namespace {

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

/// Entries that could not be written, by file. Made on first use and never destroyed: a host's
/// handles may outlive every static object.
struct Unwritten {
  std::mutex mutex;
  std::map<std::filesystem::path, std::vector<QuarantineEntry>> entries;
};

Unwritten& unwritten() {
  static auto& instance = *new Unwritten;
  return instance;
}

bool same_device(const QuarantineEntry& one, const QuarantineEntry& other) {
  return one.device == other.device && one.engine == other.engine && one.build == other.build;
}

std::string text(const json::object& object, std::string_view key) {
  const auto* value = object.if_contains(key);
  return value && value->is_string() ? std::string(value->get_string()) : std::string{};
}

}  // namespace

Quarantine::Quarantine(std::filesystem::path folder, const std::filesystem::path& root)
    : folder_(folder.empty() ? user_folder("XDG_STATE_HOME", ".local/state") : std::move(folder)),
      boot_id_(first_line(root / "proc/sys/kernel/random/boot_id")) {}

std::vector<QuarantineEntry> Quarantine::list() const {
  auto entries = read();
  const std::lock_guard lock(unwritten().mutex);
  const auto found = unwritten().entries.find(file());
  if (found == unwritten().entries.end()) return entries;
  for (const auto& entry : found->second) {
    std::erase_if(entries, [&](const QuarantineEntry& old) { return same_device(old, entry); });
    entries.push_back(entry);
  }
  return entries;
}

std::vector<QuarantineEntry> Quarantine::read() const {
  json::error_code error;
  const auto value = json::parse(read_state_file(file()), error);
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

std::error_code Quarantine::add(QuarantineEntry entry) {
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  const FileLock lock(folder_ / "quarantine.lock");
  auto entries = list();
  std::erase_if(entries, [&](const QuarantineEntry& old) { return same_device(old, entry); });
  entry.time = fmt::format(
      "{:%FT%TZ}",
      fmt::gmtime(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())));
  entries.push_back(entry);
  error = write(entries);
  const std::lock_guard own(unwritten().mutex);
  if (error) {
    unwritten().entries[file()].push_back(std::move(entry));
  } else {
    unwritten().entries.erase(file());  // they were on the list
  }
  return error;
}

void Quarantine::clear() {
  const FileLock lock(folder_ / "quarantine.lock");
  std::error_code ignored;
  std::filesystem::remove(file(), ignored);
  const std::lock_guard own(unwritten().mutex);
  unwritten().entries.erase(file());
}

std::error_code Quarantine::write(const std::vector<QuarantineEntry>& entries) const {
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
  return replace_file(file(), json::serialize(json::object{{"entries", std::move(list)}}) + '\n');
}

}  // namespace llamavisor::device
