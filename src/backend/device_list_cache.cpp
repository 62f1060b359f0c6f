#include "backend/device_list_cache.hpp"

#include "device/state_file.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <utility>

namespace llamavisor::backend {

namespace json = boost::json;

namespace {

constexpr std::size_t most_entries = 64;

std::string text(const json::object& object, std::string_view key) {
  const auto* value = object.if_contains(key);
  return value && value->is_string() ? std::string(value->get_string()) : std::string{};
}

std::uint64_t number(const json::object& object, std::string_view key) {
  const auto* value = object.if_contains(key);
  if (!value) return 0;
  if (value->is_uint64()) return value->get_uint64();
  return value->is_int64() && value->get_int64() > 0
             ? static_cast<std::uint64_t>(value->get_int64())
             : 0;
}

const json::array* array(const json::object& object, std::string_view key) {
  const auto* value = object.if_contains(key);
  return value ? value->if_array() : nullptr;
}

json::array to_json(const std::vector<server::ListedDevice>& devices) {
  json::array list;
  for (const auto& device : devices) {
    list.push_back(json::object{{"name", device.name},
                                {"model", device.model},
                                {"memory_total", device.memory_total},
                                {"memory_free", device.memory_free}});
  }
  return list;
}

std::vector<server::ListedDevice> from_json(const json::array& list) {
  std::vector<server::ListedDevice> devices;
  for (const auto& item : list) {
    const auto* object = item.if_object();
    if (!object) continue;
    devices.push_back({.name = text(*object, "name"),
                       .model = text(*object, "model"),
                       .memory_total = number(*object, "memory_total"),
                       .memory_free = number(*object, "memory_free")});
  }
  return devices;
}

}  // namespace

DeviceListCache::DeviceListCache(std::filesystem::path file)
    : file_(file.empty()
                ? device::user_folder("XDG_STATE_HOME", ".local/state") / "device-lists.json"
                : std::move(file)) {}

std::vector<DeviceListCache::Entry> DeviceListCache::read() const {
  std::vector<Entry> entries;
  json::error_code error;
  const auto value = json::parse(device::read_state_file(file_), error);
  const auto* object = error ? nullptr : value.if_object();
  const auto* list = object ? array(*object, "lists") : nullptr;
  if (!list) return entries;
  for (const auto& item : *list) {
    const auto* entry = item.if_object();
    const auto* devices = entry ? array(*entry, "devices") : nullptr;
    if (devices) entries.push_back({.key = text(*entry, "key"), .devices = from_json(*devices)});
  }
  return entries;
}

std::optional<std::vector<server::ListedDevice>> DeviceListCache::find(std::string_view key) const {
  auto entries = read();
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [&](const Entry& entry) { return entry.key == key; });
  if (found == entries.end()) return std::nullopt;
  return std::move(found->devices);
}

void DeviceListCache::keep(std::vector<Entry> entries) const {
  for (auto& old : read()) {
    const bool replaced = std::any_of(entries.begin(), entries.end(),
                                      [&](const Entry& entry) { return entry.key == old.key; });
    if (!replaced && entries.size() < most_entries) entries.push_back(std::move(old));
  }
  json::array list;
  for (const auto& entry : entries)
    list.push_back(json::object{{"key", entry.key}, {"devices", to_json(entry.devices)}});
  device::replace_file(file_, json::serialize(json::object{{"lists", std::move(list)}}) + '\n');
}

}  // namespace llamavisor::backend
