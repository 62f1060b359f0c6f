#include "server/device_list.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>
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

constexpr std::uint64_t mebibyte = 1 << 20;

/// Takes a number off the front of a text. Unset where there is none, or bytes could not hold it.
std::optional<std::uint64_t> take_mebibytes(std::string_view& text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || number > UINT64_MAX / mebibyte) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number * mebibyte;
}

/// "(24105 MiB, 23718 MiB free)", at the end of a description, which it is taken off.
void take_memory(std::string_view& description, ListedDevice& device) {
  const auto bracket = description.rfind('(');
  if (bracket == std::string_view::npos || !description.ends_with(" free)")) return;
  auto text = description.substr(bracket + 1);
  description = description.substr(0, bracket);
  constexpr std::string_view between = " MiB, ";
  const auto total = take_mebibytes(text);
  if (!total || !text.starts_with(between)) return;
  text.remove_prefix(between.size());
  const auto free = take_mebibytes(text);
  if (!free || text != " MiB free)") return;
  device.memory_total = *total;
  device.memory_free = std::min(*free, *total);
}

}  // namespace

std::vector<ListedDevice> read_device_list(std::span<const std::string> lines) {
  std::vector<ListedDevice> devices;
  auto line = std::find(lines.begin(), lines.end(), "Available devices:");
  if (line == lines.end()) return devices;
  for (++line; line != lines.end(); ++line) {
    const std::string_view text = *line;
    const auto colon = text.find(": ");
    if (!text.starts_with("  ") || colon == std::string_view::npos) continue;
    ListedDevice device{.name = our_name(text.substr(2, colon - 2))};
    auto description = text.substr(colon + 2);
    take_memory(description, device);
    while (description.ends_with(' '))
      description.remove_suffix(1);
    device.model = description;
    devices.push_back(std::move(device));
  }
  return devices;
}

std::string describe_device_list(const std::vector<ListedDevice>& devices) {
  if (devices.empty()) return "it lists none";
  std::vector<std::string> texts;
  for (const auto& device : devices)
    texts.push_back(fmt::format("{} ({})", device.name, device.model));
  return fmt::format("it lists {}", fmt::join(texts, ", "));
}

}  // namespace llamavisor::server
