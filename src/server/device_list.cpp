#include "server/device_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace llamavisor::server {

namespace {

/// "Vulkan0" -> "vulkan:0".
std::string our_name(std::string_view theirs) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kinds{{
      {"Vulkan", "vulkan"},
      {"ROCm", "rocm"},
      {"CUDA", "cuda"},
  }};
  const auto digits = theirs.find_first_of("0123456789");
  for (const auto& [kind, ours] : kinds) {
    if (digits != std::string_view::npos && theirs.substr(0, digits) == kind) {
      return fmt::format("{}:{}", ours, theirs.substr(digits));
    }
  }
  return std::string(theirs);
}

}  // namespace

std::vector<std::string> read_device_list(std::span<const std::string> lines) {
  std::vector<std::string> devices;
  auto line = std::find(lines.begin(), lines.end(), "Available devices:");
  if (line == lines.end()) return devices;
  for (++line; line != lines.end(); ++line) {
    const std::string_view text = *line;
    const auto colon = text.find(": ");
    if (!text.starts_with("  ") || colon == std::string_view::npos) continue;
    const auto name = text.substr(2, colon - 2);
    auto description = text.substr(colon + 2);
    if (description.ends_with(" free)"))
      description = description.substr(0, description.rfind('('));
    while (description.ends_with(' '))
      description.remove_suffix(1);
    devices.push_back(fmt::format("{} ({})", our_name(name), description));
  }
  return devices;
}

std::string describe_device_list(const std::vector<std::string>& devices) {
  if (devices.empty()) return "it lists none";
  std::string text = "it lists";
  for (const auto& device : devices)
    text += (text.ends_with("lists") ? " " : ", ") + device;
  return text;
}

}  // namespace llamavisor::server
