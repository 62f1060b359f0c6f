#include "device/pci.hpp"

#include "device/sysfs.hpp"

#include <fmt/format.h>

namespace llamavisor::device {

std::vector<PciDisplay> read_pci_displays(const std::filesystem::path& root) {
  constexpr std::uint64_t display = 0x03;
  std::vector<PciDisplay> found;
  for (const auto& folder : entries(root / "sys/bus/pci/devices")) {
    if (read_number(folder / "class").value_or(0) >> 16 != display) continue;
    found.push_back({.address = folder.filename().string(),
                     .vendor = read_number(folder / "vendor").value_or(0),
                     .device = read_number(folder / "device").value_or(0)});
  }
  return found;
}

std::string pci_ids(std::uint64_t vendor, std::uint64_t device) {
  return fmt::format("{:04x}:{:04x}", vendor, device);
}

bool is_pci_ids(std::string_view model) {
  constexpr std::string_view digits = "0123456789abcdef";
  return model.size() == 9 && model[4] == ':' && model.find_first_not_of(digits) == 4 &&
         model.find_first_not_of(digits, 5) == std::string_view::npos;
}

}  // namespace llamavisor::device
