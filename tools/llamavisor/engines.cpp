#include <llamavisor/engine.hpp>

#include "common/output.hpp"
#include "common/program.hpp"
#include "llamavisor/command.hpp"
#include "llamavisor/to_json.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>

namespace llamavisor::cli {

namespace {

std::string table(const std::vector<Engine>& engines) {
  std::size_t flavour = 7, version = 7, source = 6;
  for (const auto& engine : engines) {
    flavour = std::max(flavour, engine.flavour.size());
    version = std::max(version, engine.version.size());
    source = std::max(source, engine.source.size());
  }
  const auto row = [&](auto name, auto build, auto text, auto from, auto folder) {
    return fmt::format("{:<{}}  {:>6}  {:<{}}  {:<{}}  {}\n", name, flavour, build, text, version,
                       from, source, folder);
  };
  auto text = row("FLAVOUR", "BUILD", "VERSION", "SOURCE", "FOLDER");
  for (const auto& engine : engines)
    text +=
        row(engine.flavour, engine.build, engine.version, engine.source, engine.folder.string());
  return text;
}

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
