/// \file
/// The options of an answer, on a command line.
#pragma once

#include <llamavisor/generate_options.hpp>

#include <cstdint>
#include <filesystem>

namespace CLI {
class App;
}

namespace llamavisor::cli {

/// What the user typed; must outlive the parsing.
struct GenerateFlags {
  std::filesystem::path grammar{};
  std::filesystem::path json_schema{};
  bool no_cache_prompt = false;
  std::int64_t deadline_ms = 0;
  GenerateOptions options{};

  void describe_to(CLI::App& app);

  /// Reads the files and checks everything, before a load. Throws `Error` (`invalid_option`).
  GenerateOptions to_options() const;
};

}  // namespace llamavisor::cli
