#include "device/hardware.hpp"

#include "device/drm.hpp"
#include "device/gfx.hpp"
#include "device/kfd.hpp"
#include "device/nvidia.hpp"
#include "device/pci.hpp"
#include "device/visible.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <system_error>
#include <utility>

namespace llamavisor::device {

namespace {

namespace fs = std::filesystem;

/// Why a node cannot be used; empty where it can.
std::string obstacle(const Surroundings& surroundings, const fs::path& node) {
  std::error_code error;
  if (!fs::exists(surroundings.root / node, error)) {
    if (surroundings.node_may_be_absent) return {};
    return fmt::format("there is no /{}: in a container, hand it in (--device /{})", node.string(),
                       node.string());
  }
  if (surroundings.may_open(surroundings.root / node)) return {};
  return fmt::format(
      "this user may not open /{}: add it to the groups render and video, and log "
      "in anew",
      node.string());
}

std::vector<std::string> uuids_of(const std::vector<Device>& devices) {
  std::vector<std::string> uuids;
  for (const auto& device : devices)
    uuids.push_back(device.uuid);
  return uuids;
}

/// Marks what a list hides of the devices at these places; gives the places of those that are left.
std::vector<std::size_t> hide(std::vector<Device>& devices, const std::vector<std::size_t>& places,
                              const std::string& variable, const std::optional<std::string>& list) {
  std::vector<std::string> uuids;
  for (const auto place : places)
    uuids.push_back(devices[place].uuid);
  std::vector<std::size_t> left;
  for (const auto position : seen_through(list, uuids))
    left.push_back(places[position]);
  for (const auto place : places) {
    if (std::find(left.begin(), left.end(), place) != left.end()) continue;
    devices[place].reason = fmt::format("{}={} hides it: change or unset that", variable, *list);
  }
  return left;
}

std::vector<std::size_t> all_places(const std::vector<Device>& devices) {
  return seen_through(std::nullopt, uuids_of(devices));
}

std::vector<Device> read_amd(const Surroundings& surroundings) {
  auto nodes = read_kfd_nodes(surroundings.root);
  if (nodes.empty()) return {};  // and no override matters
  const auto overrides = GfxOverrides::read(surroundings.variables);
  std::error_code error;
  std::vector<Device> devices;
  for (auto& node : nodes) {
    const auto render = fmt::format("renderD{}", node.render_minor);
    const auto folder = surroundings.root / "sys/class/drm" / render / "device";
    auto drm = read_drm(folder);
    Device device{.name = fmt::format("rocm:{}", devices.size()),
                  .vendor = "AMD",
                  .model = drm.product.empty() ? pci_ids(pci_vendor_amd, node.device_id)
                                               : std::move(drm.product),
                  .kind = drm.kind,
                  .kind_is_guess = drm.kind_is_guess,
                  .gfx = node.gfx,
                  .effective_gfx = overrides.for_node(node.id).value_or(node.gfx),
                  .pci = std::move(node.pci),
                  .uuid = std::move(node.uuid),
                  .memory_total = drm.memory_total,
                  .memory_free = drm.memory_free};
    device.reason = obstacle(surroundings, "dev/kfd");
    if (device.reason.empty()) device.reason = obstacle(surroundings, "dev/dri/" + render);
    if (device.reason.empty() && !fs::exists(folder, error)) {
      device.reason = fmt::format("the kernel has no {} for it: was the card unplugged?", render);
    }
    devices.push_back(std::move(device));
  }
  const auto seen = hide(devices, all_places(devices), "ROCR_VISIBLE_DEVICES",
                         surroundings.variable("ROCR_VISIBLE_DEVICES"));
  const auto hip = surroundings.variable("HIP_VISIBLE_DEVICES");
  const std::string second =
      hip ? "HIP_VISIBLE_DEVICES" : "CUDA_VISIBLE_DEVICES";  // HIP reads both
  hide(devices, seen, second, surroundings.variable(second));
  return devices;
}

std::vector<Device> read_nvidia(const Surroundings& surroundings) {
  std::vector<Device> devices;
  for (auto& gpu : read_nvidia_gpus(surroundings.root)) {
    devices.push_back({.name = fmt::format("cuda:{}", devices.size()),
                       .vendor = "NVIDIA",
                       .model = std::move(gpu.model),
                       .pci = std::move(gpu.pci),
                       .uuid = std::move(gpu.uuid)});
  }
  hide(devices, all_places(devices), "CUDA_VISIBLE_DEVICES",
       surroundings.variable("CUDA_VISIBLE_DEVICES"));
  return devices;
}

/// Display devices that no compute driver has taken.
std::vector<Device> read_idle(const Surroundings& surroundings, const std::vector<Device>& known) {
  std::vector<Device> devices;
  for (const auto& display : read_pci_displays(surroundings.root)) {
    const bool is_known = std::any_of(known.begin(), known.end(), [&](const Device& device) {
      return device.pci == display.address;
    });
    const bool is_amd = display.vendor == pci_vendor_amd;
    if (is_known || (!is_amd && display.vendor != pci_vendor_nvidia)) continue;
    devices.push_back(
        {.vendor = is_amd ? "AMD" : "NVIDIA",
         .model = pci_ids(display.vendor, display.device),
         .pci = display.address,
         .reason = is_amd ? "the kernel's compute driver does not list it: load amdgpu; in a "
                            "container, hand /dev/kfd in; or the card is too old"
                          : "NVIDIA's driver has not taken it: install or load it"});
  }
  return devices;
}

}  // namespace

Surroundings Surroundings::real(fs::path root) {
  return {.root = std::move(root),
          .variable = [](const std::string& name) -> std::optional<std::string> {
            const char* value = std::getenv(name.c_str());
            return value ? std::optional<std::string>(value) : std::nullopt;
          },
          .variables = for_each_variable,
          // Never by opening: that would wake a card that sleeps.
          .may_open =
              [](const fs::path& node) {
                return ::faccessat(AT_FDCWD, node.c_str(), R_OK | W_OK, AT_EACCESS) == 0;
              }};
}

std::vector<Device> read_hardware(const Surroundings& surroundings) {
  auto devices = read_nvidia(surroundings);
  for (auto& device : read_amd(surroundings))
    devices.push_back(std::move(device));
  for (auto& device : read_idle(surroundings, devices))
    devices.push_back(std::move(device));
  return devices;
}

}  // namespace llamavisor::device
