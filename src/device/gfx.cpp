#include "device/gfx.hpp"

#include <llamavisor/error.hpp>

#include "device/sysfs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

extern "C" char** environ;  // NOLINT(readability-redundant-declaration): not so everywhere

namespace llamavisor::device {

namespace {

std::string name_of(std::uint64_t major, std::uint64_t minor, std::uint64_t stepping) {
  return fmt::format("gfx{}{:x}{:x}", major, minor, stepping);
}

/// "11.0.0"
std::optional<std::string> read_version(std::string_view text) {
  constexpr std::array<unsigned, 3> largest{63, 255, 255};
  std::array<unsigned, 3> parts{};
  for (std::size_t part = 0; part < parts.size(); ++part) {
    const auto dot = part + 1 < parts.size() ? text.find('.') : text.size();
    if (dot == std::string_view::npos) return std::nullopt;
    const auto number = parse_number<unsigned>(text.substr(0, dot));
    if (!number || *number > largest[part]) return std::nullopt;
    parts[part] = *number;
    text.remove_prefix(std::min(dot + 1, text.size()));
  }
  return name_of(parts[0], parts[1], parts[2]);
}

}  // namespace

std::optional<std::string> gfx_name(std::uint64_t target_version) {
  const auto major = target_version / 10000, minor = target_version / 100 % 100,
             stepping = target_version % 100;
  if (major == 0 || major > 63 || minor > 15 || stepping > 15) return std::nullopt;
  return name_of(major, minor, stepping);
}

GfxOverrides GfxOverrides::read(const std::function<void(const Visit&)>& variables) {
  constexpr std::string_view variable = "HSA_OVERRIDE_GFX_VERSION";
  GfxOverrides overrides;
  variables([&](std::string_view name, std::string_view value) {
    if (!name.starts_with(variable) || value.empty()) return;
    const auto rest = name.substr(variable.size());
    const auto node = rest.starts_with('_') ? parse_number<int>(rest.substr(1)) : std::nullopt;
    if (!rest.empty() && !node) return;  // another variable
    auto gfx = read_version(value);
    if (!gfx) {
      throw Error(errc::invalid_option,
                  fmt::format("{}={} is no version such as 11.0.0 (major <= 63, minor and stepping "
                              "<= 255): ROCm finds no GPU with it; correct it or unset it",
                              name, value));
    }
    if (node) {
      overrides.nodes_.insert_or_assign(*node, std::move(*gfx));
    } else {
      overrides.all_ = std::move(*gfx);
    }
  });
  return overrides;
}

std::optional<std::string> GfxOverrides::for_node(int node) const {
  const auto found = nodes_.find(node);
  return found != nodes_.end() ? std::optional(found->second) : all_;
}

void for_each_variable(const GfxOverrides::Visit& visit) {
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string_view text = *entry;
    const auto equals = text.find('=');
    if (equals != std::string_view::npos) visit(text.substr(0, equals), text.substr(equals + 1));
  }
}

}  // namespace llamavisor::device
