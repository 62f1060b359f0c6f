#include <llamavisor/model_files.hpp>

#include "common/one_line.hpp"
#include "common/output.hpp"
#include "common/program.hpp"
#include "common/utf8.hpp"
#include "llamavisor/command.hpp"
#include "llamavisor/tables.hpp"
#include "llamavisor/to_json.hpp"

#include <CLI/CLI.hpp>

#include <filesystem>
#include <memory>

namespace llamavisor::cli {

namespace {

struct Settings {
  std::filesystem::path folder{};
  ModelSearch limits{};
  bool as_json = false;
};

int list_models(const Settings& settings) {
  const auto found = discover_models(settings.folder, settings.limits);
  Output output;
  if (settings.as_json) {
    boost::json::array notices;
    for (const auto& notice : found.notices)
      notices.emplace_back(to_utf8(notice));
    output.write(boost::json::serialize(boost::json::object{{"models", list_to_json(found.list)},
                                                            {"notices", std::move(notices)}}) +
                 '\n');
    return exit_success;
  }
  for (const auto& notice : found.notices)
    write_error_line(one_line("llamavisor: " + notice));
  if (found.list.empty()) write_error_line("llamavisor: no file *.gguf was found");
  output.write(table(found.list, settings.folder));
  return exit_success;
}

}  // namespace

Command add_models(CLI::App& tool) {
  auto* parser = tool.add_subcommand("models", "List the models of a folder, and what they are");
  const auto settings = std::make_shared<Settings>();
  parser->add_option("folder", settings->folder, "Where the GGUF files are, at any depth")
      ->required()
      ->type_name("DIR");
  parser
      ->add_option("--depth", settings->limits.depth,
                   "Levels of folders below it that are looked into")
      ->type_name("N")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  parser->add_flag("--json", settings->as_json, "As a JSON object");
  return {parser, [settings](Interrupts&) { return list_models(*settings); }};
}

}  // namespace llamavisor::cli
