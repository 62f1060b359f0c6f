#include <llamavisor/device.hpp>

#include "common/output.hpp"
#include "common/program.hpp"
#include "llamavisor/command.hpp"
#include "llamavisor/tables.hpp"
#include "llamavisor/to_json.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

namespace llamavisor::cli {

namespace {

struct Settings {
  std::string root{"/"};
  std::vector<std::string> assumed{};
  bool files_only = false;
  bool as_json = false;
};

int list_devices(const Settings& settings) {
  DiscoveryOptions options{.root = settings.root};
  if (!settings.assumed.empty()) options.assume_engines = settings.assumed;
  const bool this_machine = settings.root == "/";  // of another one engines know nothing
  if (this_machine && !settings.files_only) options.ask_engines = AskEngines::always;
  const auto devices = discover_devices(options);
  Output output;
  if (settings.as_json) {
    output.write(boost::json::serialize(boost::json::object{{"devices", list_to_json(devices.list)},
                                                            {"auto", devices.automatic},
                                                            {"why", devices.why}}) +
                 '\n');
    return exit_success;
  }
  output.write(table(devices.list));
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
  parser->add_flag("--files-only", settings->files_only,
                   "Do not ask engines for their devices: Vulkan's are then not listed");
  parser
      ->add_option("--assume-engines", settings->assumed,
                   "As if these engines were here: hip,cuda,vulkan")
      ->delimiter(',')
      ->check(CLI::IsMember({"hip", "cuda", "vulkan", "cpu"}));
  return {parser, [settings](Interrupts&) { return list_devices(*settings); }};
}

}  // namespace llamavisor::cli
