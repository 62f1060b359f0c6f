#include "real_servers.hpp"

#include <cstdlib>

namespace llamavisor::bench {

LoadOptions real_server_options(const std::string& device) {
  LoadOptions options{.device = device, .context_length = 2048};
  options.recovery.cool_down = {};
  if (const char* threads = std::getenv("BENCH_THREADS")) options.threads = std::atoi(threads);
  if (!std::getenv("BENCH_DEFAULT_FLAGS")) options.server_args = {"-fa", "off"};
  if (const char* added = std::getenv("BENCH_CHILD_ENVIRONMENT")) {
    const std::string variable = added;
    const auto equals = variable.find('=');
    options.environment.emplace_back(variable.substr(0, equals), variable.substr(equals + 1));
  }
  return options;
}

}  // namespace llamavisor::bench
