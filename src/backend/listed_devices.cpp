#include "backend/listed_devices.hpp"

#include "backend/ask_engines.hpp"
#include "backend/device_list_cache.hpp"
#include "backend/vulkan_devices.hpp"
#include "device/device_name.hpp"
#include "device/pci.hpp"
#include "device/sysfs.hpp"
#include "engine/pack_description.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

namespace llamavisor::backend {

namespace {

namespace fs = std::filesystem;

const Engine* engine_of(const std::vector<Engine>& engines, std::string_view flavour) {
  const auto found = std::find_if(engines.begin(), engines.end(),
                                  [&](const Engine& engine) { return engine.flavour == flavour; });
  return found == engines.end() ? nullptr : &*found;
}

/// Variables that change what an engine lists.
constexpr std::array steering{"HSA_OVERRIDE_GFX_VERSION", "GGML_VK_VISIBLE_DEVICES",
                              "VK_DRIVER_FILES",          "VK_ICD_FILENAMES",
                              "VK_ADD_DRIVER_FILES",      "VK_LOADER_DRIVERS_SELECT",
                              "VK_LOADER_DRIVERS_DISABLE"};

std::string hardware_key(const std::vector<Device>& devices, const fs::path& root) {
  std::string key = device::first_line(root / "proc/sys/kernel/random/boot_id");
  for (const auto& device : devices)
    key += fmt::format("|{} {} {} {}", device.pci, device.uuid, device.model, device.effective_gfx);
  for (const char* variable : steering) {
    const char* value = std::getenv(variable);
    if (value) key += fmt::format("|{}={}", variable, value);
  }
  return key;
}

/// A pack that was replaced by another of the same build counts as another.
std::string engine_key(const Engine& engine) {
  std::error_code error;
  const auto file = engine.source == engine::plain_source
                        ? fs::path(engine.command.back())
                        : engine.folder / engine::description_name;
  const auto changed = fs::last_write_time(file, error);
  return fmt::format("{}|{}|{}", engine.folder.string(), engine.build,
                     error ? 0 : changed.time_since_epoch().count());
}

/// A GPU that no other engine may drive is reason enough to ask a Vulkan engine; and so is a user
/// who has named its devices, since only that shows it a software rasteriser.
bool vulkan_is_worth_asking(const std::vector<Device>& devices, const fs::path& root) {
  if (!devices.empty() || std::getenv("GGML_VK_VISIBLE_DEVICES")) return true;
  const auto nodes = device::entries(root / "sys/class/drm");
  return std::any_of(nodes.begin(), nodes.end(), [](const fs::path& node) {
    return node.filename().string().starts_with("renderD");
  });
}

struct Asked {
  EngineQuestion question{};
  std::string key{};
  server::DeviceAnswer answer{};
};

std::vector<Asked> questions(const std::vector<Device>& devices, const std::vector<Engine>& engines,
                             const fs::path& root) {
  std::vector<Asked> asked;
  for (const auto& device : devices) {
    if (!device.usable) continue;
    const auto* engine = engine_of(engines, device::parse_device_name(device.name).flavour());
    if (!engine) continue;
    asked.push_back(
        {.question = {.engine = *engine, .device = device.name, .visible = {visible_as(device)}}});
  }
  const auto* vulkan = engine_of(engines, "vulkan");
  if (vulkan && vulkan_is_worth_asking(devices, root)) {
    asked.push_back({.question = {.engine = *vulkan, .device = "vulkan:0"}});
  }
  const auto hardware = hardware_key(devices, root);
  for (auto& one : asked) {
    one.key = fmt::format("{}|{}|{}|{}", engine_key(one.question.engine), one.question.device,
                          fmt::join(one.question.visible, ","), hardware);
  }
  return asked;
}

void answer(std::vector<Asked>& asked, const DiscoveryOptions& options) {
  const DeviceListCache cache;
  std::vector<EngineQuestion> open;
  std::vector<Asked*> waiting;
  for (auto& one : asked) {
    if (options.ask_engines == AskEngines::when_not_known) one.answer.devices = cache.find(one.key);
    if (one.answer.devices) continue;
    open.push_back(one.question);
    waiting.push_back(&one);
  }
  if (open.empty()) return;
  auto answers = ask_engines(open, options.engine_limit);
  std::vector<DeviceListCache::Entry> known;
  for (std::size_t place = 0; place < waiting.size(); ++place) {
    waiting[place]->answer = std::move(answers[place]);
    const auto& list = waiting[place]->answer.devices;
    if (list) known.push_back({.key = waiting[place]->key, .devices = *list});
  }
  if (!known.empty()) cache.keep(std::move(known));
}

/// The answer of an engine that could see this device alone.
void apply(Device& device, const server::DeviceAnswer& answer) {
  const auto name = device::parse_device_name(device.name);
  if (answer.devices) {
    const auto found = std::find_if(answer.devices->begin(), answer.devices->end(),
                                    [&](const server::ListedDevice& listed) {
                                      return listed.name == fmt::format("{}:0", name.kind);
                                    });
    if (found != answer.devices->end()) {
      if (device.memory_total == 0) {
        device.memory_total = found->memory_total;
        device.memory_free = found->memory_free;
      }
      if (device.model.empty() || device::is_pci_ids(device.model)) device.model = found->model;
      return;
    }
  }
  device.usable = false;
  device.engines.clear();
  device.reason =
      fmt::format("the {} engine, asked for its devices, does not list it{}{}", name.flavour(),
                  answer.fault.empty() ? "" : ": ",
                  answer.fault.empty() ? ": are all libraries of its driver there?" : answer.fault);
}

}  // namespace

std::string visible_as(const Device& device) {
  if (!device.uuid.empty()) return device.uuid;
  return std::to_string(device::parse_device_name(device.name).numbers.front());
}

std::string add_what_engines_list(std::vector<Device>& devices, const std::vector<Engine>& engines,
                                  const DiscoveryOptions& options) {
  std::string silent;
  auto asked = questions(devices, engines, options.root);
  answer(asked, options);
  for (const auto& one : asked) {
    if (one.question.visible.empty()) {
      if (!one.answer.devices) {
        silent = "the vulkan engine does not list its devices: " + one.answer.fault;
        continue;
      }
      auto found = vulkan_devices(*one.answer.devices, devices);
      const auto nameless = std::find_if(devices.begin(), devices.end(),
                                         [](const Device& device) { return device.name.empty(); });
      devices.insert(nameless, std::make_move_iterator(found.begin()),
                     std::make_move_iterator(found.end()));
      continue;
    }
    for (auto& device : devices) {
      if (device.name == one.question.device) apply(device, one.answer);
    }
  }
  return silent;
}

}  // namespace llamavisor::backend
