#include "common/program.hpp"

#include "common/interrupts.hpp"
#include "common/one_line.hpp"
#include "common/output.hpp"
#include "common/standard_streams.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <utility>

namespace llamavisor::cli {

namespace {

/// Members that are spelt otherwise on the command line.
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> spellings{{
    {"adapters", "adapter"},
    {"environment", "env"},
    {"limits", "load-silence"},
    {"stop_tokens", "stop-token"},
    {"cache_prompt", "no-cache-prompt"},
}};

std::string as_option(std::string_view member) {
  for (const auto& [ours, typed] : spellings) {
    if (member == ours) return fmt::format("--{}", typed);
  }
  std::string name(member);
  std::replace(name.begin(), name.end(), '_', '-');
  return "--" + name;
}

/// "GenerateOptions::top_p must ..." is "--top-p must ..." here.
std::string with_option_names(std::string text) {
  for (const std::string_view owner : {"LoadOptions::", "GenerateOptions::"}) {
    for (std::size_t at = 0; (at = text.find(owner, at)) != std::string::npos;) {
      const auto begin = at + owner.size();
      const auto end =
          std::min(text.find_first_not_of("abcdefghijklmnopqrstuvwxyz_", begin), text.size());
      const auto option = as_option(std::string_view(text).substr(begin, end - begin));
      text.replace(at, end - at, option);
      at += option.size();
    }
  }
  return text;
}

int report(std::string_view program, const Failure& failure, const Interrupts& interrupts) {
  // The user knows that they pressed Ctrl-C.
  if (failure.code == errc::cancelled && interrupts.signal() != 0) return interrupts.exit_status();
  write_error_line(error_line(program, failure));
  return exit_status(failure.code);
}

}  // namespace

int exit_status(errc code) noexcept {
  const bool usage = code == errc::invalid_option || code == errc::refused_server_argument;
  return usage ? exit_usage : exit_failure;
}

std::string error_line(std::string_view program, const Failure& failure) {
  return one_line(
      fmt::format("{}: {} [{}]", program, with_option_names(failure.message), name(failure.code)));
}

void take_last_of_repeated(CLI::App& app) {
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

std::optional<int> parse(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::Success& success) {
    std::ostringstream text;
    app.exit(success, text, text);
    Output().write(text.str());
    return exit_success;
  } catch (const CLI::ParseError& mistake) {
    write_error_line(one_line(
        fmt::format("{}: {} (--help tells more)", app.get_name(), std::string(mistake.what()))));
    return exit_usage;
  }
}

int run_program(std::string_view program, const std::function<int(Interrupts&)>& body) {
  guard_standard_streams();
  try {
    Interrupts interrupts;
    try {
      return body(interrupts);
    } catch (const Error& error) {
      return report(program, error.failure(), interrupts);
    }
  } catch (const ReaderGone&) {
    return exit_reader_gone;
  } catch (const std::exception& error) {
    write_error_line(one_line(fmt::format("{}: {}", program, error.what())));
    return exit_failure;
  }
}

}  // namespace llamavisor::cli
