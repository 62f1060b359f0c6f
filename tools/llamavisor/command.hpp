/// \file
/// The subcommands.
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace llamavisor::cli {

class Interrupts;

/// One subcommand: how it looks to the parser, and what it does when the user chose it.
struct Command {
  CLI::App* parser;
  std::function<int(Interrupts&)> run;  ///< the exit status; may throw
};

Command add_devices(CLI::App& tool);
Command add_doctor(CLI::App& tool);
Command add_generate(CLI::App& tool);
Command add_engines(CLI::App& tool);
Command add_models(CLI::App& tool);

}  // namespace llamavisor::cli
