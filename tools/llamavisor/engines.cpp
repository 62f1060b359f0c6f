#include <llamavisor/engine.hpp>

#include "common/output.hpp"
#include "common/program.hpp"
#include "llamavisor/command.hpp"
#include "llamavisor/tables.hpp"
#include "llamavisor/to_json.hpp"

#include <CLI/CLI.hpp>

#include <memory>
#include <string>

namespace llamavisor::cli {

namespace {

int list_engines(bool as_json) {
  const auto engines = find_engines();
  Output output;
  if (as_json) {
    output.write(boost::json::serialize(list_to_json(engines)) + '\n');
  } else if (engines.empty()) {
    write_error_line("llamavisor: no engine pack was found: get one with tools/get-engine cpu");
  } else {
    output.write(table(engines));
  }
  return exit_success;
}

}  // namespace

Command add_engines(CLI::App& tool) {
  auto* parser = tool.add_subcommand("engines", "List the engine packs, in the order of their use");
  const auto as_json = std::make_shared<bool>(false);
  parser->add_flag("--json", *as_json, "As a JSON array");
  return {parser, [as_json](Interrupts&) { return list_engines(*as_json); }};
}

}  // namespace llamavisor::cli
