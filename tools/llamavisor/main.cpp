#include "common/program.hpp"
#include "llamavisor/command.hpp"

#include <CLI/CLI.hpp>

namespace cli = llamavisor::cli;

int main(int argc, char** argv) {
  return cli::run_program("llamavisor", [&](cli::Interrupts& interrupts) {
    CLI::App tool("Runs GGUF models on supervised llama-server processes.", "llamavisor");
    cli::take_last_of_repeated(tool);
    tool.set_version_flag("--version", "llamavisor " LLAMAVISOR_VERSION);
    tool.require_subcommand(1);
    const cli::Command commands[] = {cli::add_generate(tool), cli::add_devices(tool),
                                     cli::add_doctor(tool), cli::add_engines(tool),
                                     cli::add_models(tool)};
    if (const auto status = cli::parse(tool, argc, argv)) return *status;
    for (const auto& command : commands) {
      if (command.parser->parsed()) return command.run(interrupts);
    }
    return static_cast<int>(cli::exit_usage);
  });
}
