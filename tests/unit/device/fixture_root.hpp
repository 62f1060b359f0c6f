// A folder that stands in for "/", made for one test.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace llamavisor::device::test {

class FixtureRoot {
 public:
  FixtureRoot() {
    auto name = (std::filesystem::temp_directory_path() / "llamavisor-root-XXXXXX").string();
    if (!::mkdtemp(name.data())) throw std::runtime_error("cannot make " + name);
    path_ = name;
  }
  FixtureRoot(const FixtureRoot&) = delete;
  FixtureRoot& operator=(const FixtureRoot&) = delete;
  ~FixtureRoot() { std::filesystem::remove_all(path_); }

  const std::filesystem::path& path() const { return path_; }

  /// Writes a file, with the folders above it. `name` without the slash in front.
  void write(std::string_view name, std::string_view text) const {
    const auto file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace llamavisor::device::test
