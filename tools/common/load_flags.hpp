/// \file
/// The options of a load, on a command line.
#pragma once

#include <llamavisor/load_options.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace llamavisor::cli {

/// What the user typed; must outlive the parsing.
struct LoadFlags {
  std::filesystem::path model{};
  std::string gpu_layers{};
  std::string server_args{};
  std::vector<std::string> environment{};
  std::vector<std::string> adapters{};
  double load_silence_s = 300;

  /// One answer at a time is what a command line asks for: each slot costs the memory of its
  /// context.
  LoadOptions options{.parallel = 1};

  void describe_to(CLI::App& app);

  /// Throws `Error` (`invalid_option`).
  LoadOptions to_options() const;
};

}  // namespace llamavisor::cli
