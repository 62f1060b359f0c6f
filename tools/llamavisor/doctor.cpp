#include <llamavisor/device.hpp>
#include <llamavisor/engine.hpp>
#include <llamavisor/error.hpp>

#include "common/output.hpp"
#include "common/program.hpp"
#include "llamavisor/command.hpp"
#include "llamavisor/tables.hpp"
#include "llamavisor/to_json.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

namespace llamavisor::cli {

namespace {

struct Settings {
  bool as_json = false;
  bool clear = false;
};

struct Findings {
  std::string kernel{};
  std::string amdgpu{};  ///< the driver's own version; empty where it has none or is not loaded
  Devices devices{};
  std::vector<Engine> engines{};
  std::vector<QuarantinedDevice> quarantine{};
  std::vector<std::string> wrong{};  ///< each with what mends it
};

std::string first_line(const char* file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

/// What goes wrong while looking is a finding too.
Findings look() {
  Findings found{.kernel = first_line("/proc/sys/kernel/osrelease"),
                 .amdgpu = first_line("/sys/module/amdgpu/version"),
                 .quarantine = quarantined_devices()};
  const auto attempt = [&](const auto& task) {
    try {
      task();
    } catch (const Error& error) {
      if (std::find(found.wrong.begin(), found.wrong.end(), error.what()) == found.wrong.end())
        found.wrong.emplace_back(error.what());
    }
  };
  attempt([&] { found.engines = find_engines(); });
  attempt([&] { found.devices = discover_devices({.ask_engines = AskEngines::always}); });
  const bool has_cpu = std::any_of(found.engines.begin(), found.engines.end(),
                                   [](const Engine& engine) { return engine.flavour == "cpu"; });
  if (!has_cpu) {
    found.wrong.emplace_back(
        "no CPU engine, to go on with when a GPU fails: get one with tools/get-engine cpu");
  }
  for (const auto& device : found.devices.list) {
    if (device.usable) continue;
    const auto& who = device.name.empty() ? device.vendor + " " + device.model : device.name;
    found.wrong.push_back(who + ": " + device.reason);
  }
  return found;
}

boost::json::object to_json(const QuarantinedDevice& entry) {
  return {{"device", entry.device}, {"engine", entry.engine},   {"build", entry.build},
          {"cause", entry.cause},   {"message", entry.message}, {"time", entry.time}};
}

std::string as_json(const Findings& found) {
  boost::json::array quarantine;
  for (const auto& entry : found.quarantine)
    quarantine.emplace_back(to_json(entry));
  return boost::json::serialize(
             boost::json::object{{"kernel", found.kernel},
                                 {"amdgpu", found.amdgpu},
                                 {"devices", list_to_json(found.devices.list)},
                                 {"auto", found.devices.automatic},
                                 {"why", found.devices.why},
                                 {"engines", list_to_json(found.engines)},
                                 {"quarantine", std::move(quarantine)},
                                 {"wrong", boost::json::value_from(found.wrong)}}) +
         '\n';
}

std::string as_text(const Findings& found) {
  auto text = fmt::format("kernel {}{}\n", found.kernel,
                          found.amdgpu.empty() ? "" : ", amdgpu " + found.amdgpu);
  text += "\nDevices\n" +
          (found.devices.list.empty() ? "no GPU was found\n" : table(found.devices.list));
  text += fmt::format("auto is {}: {}\n", found.devices.automatic, found.devices.why);
  text += "\nEngines\n" + (found.engines.empty() ? "none\n" : table(found.engines));
  if (!found.quarantine.empty()) text += "\nQuarantined until the next boot, or doctor --clear\n";
  for (const auto& entry : found.quarantine) {
    text += fmt::format("{} with the {} engine (build {}), since {}: {}\n", entry.device,
                        entry.engine, entry.build, entry.time, entry.message);
  }
  text += found.wrong.empty() ? "\nNothing is wrong.\n" : "\nTo be mended\n";
  for (const auto& line : found.wrong)
    text += "* " + line + '\n';
  return text;
}

int examine(const Settings& settings) {
  if (settings.clear) clear_quarantine();
  const auto found = look();
  Output output;
  output.write(settings.as_json ? as_json(found) : as_text(found));
  return exit_success;
}

}  // namespace

Command add_doctor(CLI::App& tool) {
  auto* parser = tool.add_subcommand(
      "doctor", "Devices, engines, what auto is and why, and what is to be mended");
  const auto settings = std::make_shared<Settings>();
  parser->add_flag("--json", settings->as_json, "As a JSON object");
  parser->add_flag("--clear", settings->clear, "Lift the quarantine of all devices first");
  return {parser, [settings](Interrupts&) { return examine(*settings); }};
}

}  // namespace llamavisor::cli
