#include "runtime/host_environment.hpp"

extern "C" char** environ;  // NOLINT(readability-redundant-declaration): not so everywhere

namespace llamavisor {

std::vector<std::string> host_environment() {
  std::vector<std::string> variables;
  for (char** entry = environ; entry && *entry; ++entry)
    variables.emplace_back(*entry);
  return variables;
}

}  // namespace llamavisor
