#include "device/memory.hpp"

#include "device/cgroup.hpp"
#include "device/sysfs.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

namespace llamavisor::device {

namespace {

std::optional<std::uint64_t> number_in(const std::filesystem::path& file) {
  std::istringstream text(first_line(file));
  std::uint64_t value = 0;
  if (text >> value) return value;
  return std::nullopt;  // "max", or no such file
}

/// A value of a file of lines "key value".
std::uint64_t value_of(const std::filesystem::path& file, std::string_view key) {
  std::ifstream stream(file);
  std::string name;
  std::uint64_t value = 0;
  while (stream >> name >> value) {
    if (name == key) return value;
    stream.ignore(256, '\n');
  }
  return 0;
}

}  // namespace

std::optional<std::uint64_t> available_memory(const std::filesystem::path& root) {
  std::optional<std::uint64_t> least;
  if (const auto kib = value_of(root / "proc/meminfo", "MemAvailable:")) least = kib * 1024;
  for_each_cgroup(root, [&](const std::filesystem::path& group) {
    const auto limit = number_in(group / "memory.max");
    const auto used = number_in(group / "memory.current");
    if (!limit || !used) return;
    // Pages of files can go: they are no use of memory that stands in the way.
    const auto reclaimable = std::min(*used, value_of(group / "memory.stat", "inactive_file"));
    const auto taken = *used - reclaimable;
    const auto left = *limit > taken ? *limit - taken : 0;
    least = least ? std::min(*least, left) : left;
  });
  return least;
}

}  // namespace llamavisor::device
