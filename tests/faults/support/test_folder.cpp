#include "test_folder.hpp"

#include <stdlib.h>

#include <stdexcept>
#include <string>

namespace llamavisor::testing {

TestFolder::TestFolder(std::string_view name) {
  auto pattern = (std::filesystem::temp_directory_path() / "lv-XXXXXX").string();
  if (!::mkdtemp(pattern.data())) throw std::runtime_error("mkdtemp failed");
  root_ = pattern;
  path_ = root_ / name;
  std::filesystem::create_directory(path_);
}

TestFolder::~TestFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(root_, ignored);
}

}  // namespace llamavisor::testing
