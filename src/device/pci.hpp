/// \file
/// Display devices on the PCI bus.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace llamavisor::device {

inline constexpr std::uint64_t pci_vendor_amd = 0x1002;
inline constexpr std::uint64_t pci_vendor_nvidia = 0x10de;

struct PciDisplay {
  std::string address{};  ///< "0000:03:00.0"
  std::uint64_t vendor = 0, device = 0;
};

/// Those of class 0x03xx, by address. `root` holds `sys/`.
std::vector<PciDisplay> read_pci_displays(const std::filesystem::path& root);

/// "1002:7550"
std::string pci_ids(std::uint64_t vendor, std::uint64_t device);

/// Whether a model's name is no more than that.
bool is_pci_ids(std::string_view model);

}  // namespace llamavisor::device
