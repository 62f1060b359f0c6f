#include "device/device_name.hpp"

#include <llamavisor/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

namespace llamavisor::device {

namespace {

[[noreturn]] void refuse(std::string_view text) {
  throw Error(errc::unknown_device,
              fmt::format("there is no device \"{}\": it is auto, cpu, cuda[:n], rocm[:n], hip[:n] "
                          "or vulkan[:n], or several of one kind: rocm:0,rocm:1",
                          text));
}

bool has_numbers(std::string_view kind) {
  return kind == "cuda" || kind == "rocm" || kind == "vulkan";
}

struct One {
  std::string_view kind{};
  int number = 0;
};

/// "rocm:1", in lower case; `whole` is for the message.
One parse_one(std::string_view text, std::string_view whole) {
  const auto colon = text.find(':');
  One one{.kind = text.substr(0, colon)};
  if (one.kind == "hip") one.kind = "rocm";
  if (!has_numbers(one.kind) && one.kind != "cpu" && one.kind != "auto") refuse(whole);
  if (colon == std::string_view::npos) return one;
  const auto* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + colon + 1, end, one.number);
  if (!has_numbers(one.kind) || error != std::errc{} || stop != end || one.number < 0) {
    refuse(whole);
  }
  return one;
}

}  // namespace

std::string DeviceName::flavour() const {
  return kind == "rocm" ? "hip" : kind;
}

std::string DeviceName::text() const {
  return fmt::format("{}", fmt::join(each(), ","));
}

std::vector<std::string> DeviceName::each() const {
  if (!has_numbers(kind)) return {kind};
  std::vector<std::string> names;
  for (const int number : numbers)
    names.push_back(fmt::format("{}:{}", kind, number));
  return names;
}

DeviceName parse_device_name(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  DeviceName name{.numbers = {}};
  for (std::size_t at = 0; at <= lower.size();) {
    const auto comma = std::min(lower.find(',', at), lower.size());
    const auto one = parse_one(std::string_view(lower).substr(at, comma - at), text);
    const bool again =
        std::find(name.numbers.begin(), name.numbers.end(), one.number) != name.numbers.end();
    if (again || (at > 0 && one.kind != name.kind)) refuse(text);
    name.kind = one.kind;
    name.numbers.push_back(one.number);
    at = comma + 1;
  }
  return name;
}

}  // namespace llamavisor::device
