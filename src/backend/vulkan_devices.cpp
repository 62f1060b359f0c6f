#include "backend/vulkan_devices.hpp"

#include "device/pci.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>
#include <utility>

namespace llamavisor::backend {

namespace {

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

struct Sign {
  std::string_view word;  ///< in the name that the driver gives a device
  std::string_view vendor;
  bool software = false;
};

constexpr std::array signs{
    Sign{"llvmpipe", "Mesa", true},
    Sign{"lavapipe", "Mesa", true},
    Sign{"swiftshader", "Google", true},
    Sign{"nvidia", "NVIDIA"},
    Sign{"geforce", "NVIDIA"},
    Sign{"quadro", "NVIDIA"},
    Sign{"tesla", "NVIDIA"},
    Sign{"amd", "AMD"},
    Sign{"radeon", "AMD"},
    Sign{"radv", "AMD"},
    Sign{"intel", "Intel"},
};

const Sign* sign_in(std::string_view lower) {
  const auto found = std::find_if(signs.begin(), signs.end(), [&](const Sign& sign) {
    return lower.find(sign.word) != std::string_view::npos;
  });
  return found == signs.end() ? nullptr : &*found;
}

/// "gfx1201" of "amd radeon rx 9070 (radv gfx1201)"; empty where the driver tells a code name.
std::string gfx_in(std::string_view lower) {
  const auto begin = lower.find("gfx");
  if (begin == std::string_view::npos) return {};
  auto end = begin + 3;
  while (end < lower.size() && std::isalnum(static_cast<unsigned char>(lower[end])))
    ++end;
  return std::string(lower.substr(begin, end - begin));
}

/// Drivers keep some of the memory for themselves, each another part: an eighth is more than any
/// was seen to keep.
bool alike(std::uint64_t one, std::uint64_t other) {
  if (one == 0 || other == 0) return true;
  const auto [small, large] = std::minmax(one, other);
  return large - small <= large / 8;
}

bool may_be(const server::ListedDevice& listed, std::string_view vendor, const Device& card) {
  if (card.vendor != vendor) return false;
  const auto lower = lower_case(listed.model);
  const auto gfx = gfx_in(lower);
  if (!gfx.empty() && !card.gfx.empty() && gfx != card.gfx) return false;
  // An integrated GPU's memory is the host's: each driver reckons it in its own way.
  if (card.kind == DeviceKind::discrete && !alike(listed.memory_total, card.memory_total)) {
    return false;
  }
  // Both drivers of NVIDIA's use the same names.
  if (vendor != "NVIDIA" || device::is_pci_ids(card.model)) return true;
  return lower_case(card.model) == lower;
}

/// A card of Intel's has a letter and a number after "Arc"; what is part of a processor has not.
DeviceKind guess_kind(std::string_view vendor, std::string_view lower) {
  if (vendor == "NVIDIA" || vendor == "AMD") return DeviceKind::discrete;
  for (auto at = lower.find("arc"); at != std::string_view::npos; at = lower.find("arc", at + 1)) {
    const auto rest = lower.substr(std::min(lower.find(' ', at), lower.size()));
    if (rest.size() > 2 && (rest[1] == 'a' || rest[1] == 'b') &&
        std::isdigit(static_cast<unsigned char>(rest[2]))) {
      return DeviceKind::discrete;
    }
  }
  return DeviceKind::integrated;
}

void take_over(Device& device, const std::vector<const Device*>& cards) {
  const auto same = [&](auto member) {
    return std::all_of(cards.begin(), cards.end(),
                       [&](const Device* card) { return card->*member == cards.front()->*member; });
  };
  device.kind = cards.front()->kind;
  device.kind_is_guess = cards.front()->kind_is_guess || !same(&Device::kind);
  if (same(&Device::gfx)) device.gfx = device.effective_gfx = cards.front()->gfx;
  if (cards.size() == 1) device.uuid = cards.front()->uuid;
  std::vector<std::string_view> addresses;
  for (const auto* card : cards)
    addresses.push_back(card->pci);
  device.pci = fmt::format("{}", fmt::join(addresses, " or "));
}

}  // namespace

std::vector<Device> vulkan_devices(std::span<const server::ListedDevice> listed,
                                   std::span<const Device> hardware) {
  std::vector<Device> devices;
  for (const auto& one : listed) {
    if (!one.name.starts_with("vulkan:")) continue;
    const auto lower = lower_case(one.model);
    const auto* sign = sign_in(lower);
    Device device{.name = one.name,
                  .vendor = std::string(sign ? sign->vendor : ""),
                  .model = one.model,
                  .kind = sign && sign->software ? DeviceKind::software
                                                 : guess_kind(sign ? sign->vendor : "", lower),
                  .kind_is_guess = !sign || !sign->software,
                  .memory_total = one.memory_total,
                  .memory_free = one.memory_free};
    std::vector<const Device*> cards;
    for (const auto& card : hardware) {
      if (device.kind_is_guess && may_be(one, device.vendor, card)) cards.push_back(&card);
    }
    if (!cards.empty()) take_over(device, cards);
    devices.push_back(std::move(device));
  }
  return devices;
}

}  // namespace llamavisor::backend
