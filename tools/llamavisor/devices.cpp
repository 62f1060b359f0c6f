#include <llamavisor/device.hpp>

#include "common/output.hpp"
#include "common/program.hpp"
#include "llamavisor/command.hpp"
#include "llamavisor/to_json.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

namespace llamavisor::cli {

namespace {

struct Settings {
  std::string root{"/"};
  std::vector<std::string> assumed{};
  bool as_json = false;
};

std::string memory(const Device& device) {
  if (device.memory_total == 0) return "-";
  constexpr double gib = 1ULL << 30;
  return fmt::format("{:.1f} of {:.1f} GiB", static_cast<double>(device.memory_free) / gib,
                     static_cast<double>(device.memory_total) / gib);
}

std::string gfx(const Device& device) {
  if (device.gfx == device.effective_gfx) return device.gfx.empty() ? "-" : device.gfx;
  return fmt::format("{} as {}", device.gfx, device.effective_gfx);
}

std::string table(const Devices& devices) {
  using Row = std::array<std::string, 6>;
  std::vector<Row> rows{{"DEVICE", "MODEL", "KIND", "GFX", "FREE MEMORY", "STATE"}};
  for (const auto& device : devices.list) {
    rows.push_back({device.name.empty() ? "-" : device.name, device.vendor + " " + device.model,
                    std::string(name(device.kind)) + (device.kind_is_guess ? "?" : ""), gfx(device),
                    memory(device), device.usable ? "usable" : device.reason});
  }
  std::string text;
  for (const auto& row : rows) {
    for (std::size_t column = 0; column < row.size(); ++column) {
      std::size_t width = 0;  // of the last column it does not matter
      for (const auto& other : rows)
        if (column + 1 < row.size()) width = std::max(width, other[column].size() + 2);
      text += fmt::format("{:<{}}", row[column], width);
    }
    text += '\n';
  }
  return text;
}

int list_devices(const Settings& settings) {
  DiscoveryOptions options{.root = settings.root};
  if (!settings.assumed.empty()) options.assume_engines = settings.assumed;
  const auto devices = discover_devices(options);
  Output output;
  if (settings.as_json) {
    output.write(boost::json::serialize(boost::json::object{{"devices", list_to_json(devices.list)},
                                                            {"auto", devices.automatic},
                                                            {"why", devices.why}}) +
                 '\n');
    return exit_success;
  }
  if (!devices.list.empty()) output.write(table(devices));
  output.write(fmt::format("auto: {} ({})\n", devices.automatic, devices.why));
  return exit_success;
}

}  // namespace

Command add_devices(CLI::App& tool) {
  auto* parser = tool.add_subcommand("devices", "List the GPUs, and what stands in their way");
  const auto settings = std::make_shared<Settings>();
  parser->add_flag("--json", settings->as_json, "As a JSON object");
  parser
      ->add_option("--root", settings->root,
                   "A folder with sys/, proc/ and dev/ instead of this machine's")
      ->check(CLI::ExistingDirectory);
  parser
      ->add_option("--assume-engines", settings->assumed,
                   "As if these engines were here: hip,cuda,vulkan")
      ->delimiter(',')
      ->check(CLI::IsMember({"hip", "cuda", "vulkan", "cpu"}));
  return {parser, [settings](Interrupts&) { return list_devices(*settings); }};
}

}  // namespace llamavisor::cli
