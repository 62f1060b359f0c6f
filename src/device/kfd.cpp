#include "device/kfd.hpp"

#include "device/gfx.hpp"
#include "device/sysfs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>

namespace llamavisor::device {

namespace {

namespace fs = std::filesystem;

/// Lines of "key value"; what is no number is left out.
std::map<std::string, std::uint64_t, std::less<>> read_properties(const fs::path& file) {
  std::map<std::string, std::uint64_t, std::less<>> properties;
  std::istringstream stream(small_text(file));
  for (std::string line; std::getline(stream, line);) {
    const auto space = line.find(' ');
    if (space == std::string::npos) continue;
    const auto value = parse_number<std::uint64_t>(std::string_view(line).substr(space + 1));
    if (value) properties.insert_or_assign(line.substr(0, space), *value);
  }
  return properties;
}

std::optional<KfdNode> read_node(int id, const fs::path& folder) {
  const auto properties = read_properties(folder / "properties");
  const auto value = [&](std::string_view key) {
    const auto found = properties.find(key);
    return found == properties.end() ? 0 : found->second;
  };
  auto gfx = gfx_name(value("gfx_target_version"));
  if (!gfx) return std::nullopt;
  const auto location = value("location_id");
  KfdNode node{.id = id,
               .gfx = std::move(*gfx),
               .pci = fmt::format("{:04x}:{:02x}:{:02x}.{}", value("domain"), location >> 8 & 0xff,
                                  location >> 3 & 0x1f, location & 7),
               .device_id = value("device_id"),
               .render_minor = value("drm_render_minor")};
  if (const auto unique = value("unique_id")) node.uuid = fmt::format("GPU-{:016x}", unique);
  return node;
}

}  // namespace

std::vector<KfdNode> read_kfd_nodes(const fs::path& root) {
  std::vector<KfdNode> nodes;
  for (const auto& folder : entries(root / "sys/class/kfd/kfd/topology/nodes")) {
    const auto id = parse_number<int>(folder.filename().string());
    if (!id) continue;
    if (auto node = read_node(*id, folder)) nodes.push_back(std::move(*node));
  }
  std::sort(nodes.begin(), nodes.end(),
            [](const KfdNode& left, const KfdNode& right) { return left.id < right.id; });
  return nodes;
}

}  // namespace llamavisor::device
