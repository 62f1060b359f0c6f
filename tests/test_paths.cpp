#include "test_paths.hpp"

#include "test_paths_generated.hpp"

namespace llamavisor::test {

std::string fixture(std::string_view name) {
  return std::string(source_folder) + "/tests/fixtures/" + std::string(name);
}

std::string program(std::string_view name) {
  return std::string(program_folder) + "/" + std::string(name);
}

}  // namespace llamavisor::test
