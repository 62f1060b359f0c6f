// The command line: llama-server's flags, as many as a host may pass.
#pragma once

#include <string>

namespace fake {

struct Arguments {
  std::string model;
  std::string host = "127.0.0.1";
  int port = 8080;
  std::string alias;
  std::string device;
  std::string gpu_layers = "auto";
  int context = 0;
  int batch = 2048;
  int slots = 4;
  int ping_seconds = 30;
  int verbosity = 3;
  bool slots_endpoint = true;
};

enum class Dialect { today, old };

struct ParsedArguments {
  Arguments arguments;
  std::string error;  ///< what is printed before exit code 1; empty = none
  enum class Wish { serve, help, version, list_devices } wish = Wish::serve;
};

ParsedArguments parse_arguments(int argc, char** argv, Dialect dialect);

/// What `--help` prints.
std::string help_text(Dialect dialect);

}  // namespace fake
