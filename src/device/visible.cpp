#include "device/visible.hpp"

#include "device/sysfs.hpp"

#include <algorithm>
#include <numeric>

namespace llamavisor::device {

namespace {

std::optional<std::size_t> find(std::string_view entry, const std::vector<std::string>& uuids) {
  const auto first = entry.find_first_not_of(" \t");
  if (first == std::string_view::npos) return std::nullopt;
  entry = entry.substr(first, entry.find_last_not_of(" \t") + 1 - first);
  if (const auto position = parse_number<std::size_t>(entry)) {
    return *position < uuids.size() ? position : std::nullopt;
  }
  const auto found = std::find_if(uuids.begin(), uuids.end(),
                                  [&](const std::string& uuid) { return uuid.starts_with(entry); });
  if (found == uuids.end()) return std::nullopt;
  return static_cast<std::size_t>(found - uuids.begin());
}

}  // namespace

std::vector<std::size_t> seen_through(const std::optional<std::string>& list,
                                      const std::vector<std::string>& uuids) {
  std::vector<std::size_t> seen;
  if (!list) {
    seen.resize(uuids.size());
    std::iota(seen.begin(), seen.end(), std::size_t{0});
    return seen;
  }
  std::string_view rest = *list;
  while (true) {
    const auto comma = rest.find(',');
    const auto position = find(rest.substr(0, comma), uuids);
    if (!position || std::find(seen.begin(), seen.end(), *position) != seen.end()) return seen;
    seen.push_back(*position);
    if (comma == std::string_view::npos) return seen;
    rest.remove_prefix(comma + 1);
  }
}

}  // namespace llamavisor::device
