/// \file
/// What every command line program of ours does alike: parsing, errors, exit statuses.
#pragma once

#include <llamavisor/error.hpp>

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace CLI {
class App;
}

namespace llamavisor::cli {

class Interrupts;

/// 0 is success, and 128 + n is what ended by signal n.
enum Exit : int { exit_success = 0, exit_failure = 1, exit_usage = 2, exit_reader_gone = 141 };

/// `exit_usage` where the call is at fault, else `exit_failure`.
int exit_status(errc code) noexcept;

/// One line for a person: the message, the names of options as a command line has them, no line
/// break or control character, and the code.
std::string error_line(std::string_view program, const Failure& failure);

/// An option that is given again overrides itself, as users of aliases expect. Call it first: it
/// holds for options and subcommands that are added later.
void take_last_of_repeated(CLI::App& app);

/// Empty: go on. Otherwise the parser had its say (help, version, or a mistake), and this is the
/// exit status.
std::optional<int> parse(CLI::App& app, int argc, char** argv);

/// Guards the standard streams, takes the signals, runs `body`, and turns what it throws into a
/// line on standard error and an exit status.
int run_program(std::string_view program, const std::function<int(Interrupts&)>& body);

}  // namespace llamavisor::cli
