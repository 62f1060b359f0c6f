#include "device/device_name.hpp"

#include <llamavisor/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace llamavisor::device {

namespace {

[[noreturn]] void refuse(std::string_view text) {
  throw Error(errc::unknown_device,
              fmt::format("there is no device \"{}\": it is auto, cpu, cuda[:n], rocm[:n], hip[:n] "
                          "or vulkan[:n]",
                          text));
}

}  // namespace

std::string DeviceName::flavour() const {
  return kind == "rocm" ? "hip" : kind;
}

std::string DeviceName::text() const {
  return kind == "auto" || kind == "cpu" ? kind : fmt::format("{}:{}", kind, number);
}

DeviceName parse_device_name(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  const auto colon = lower.find(':');
  DeviceName name{.kind = lower.substr(0, colon)};
  if (name.kind == "hip") name.kind = "rocm";
  const bool numbered = name.kind == "cuda" || name.kind == "rocm" || name.kind == "vulkan";
  if (!numbered && name.kind != "cpu" && name.kind != "auto") refuse(text);
  if (colon == std::string::npos) return name;
  const auto* end = lower.data() + lower.size();
  const auto [stop, error] = std::from_chars(lower.data() + colon + 1, end, name.number);
  if (!numbered || error != std::errc{} || stop != end || name.number < 0) refuse(text);
  return name;
}

}  // namespace llamavisor::device
