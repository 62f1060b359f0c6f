// A folder of a test's own, and files in it.
#pragma once

#include "catch.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace llamavisor::gguf::test {

struct Folder {
  Folder() {
    std::string text = std::filesystem::temp_directory_path() / "lv-gguf-XXXXXX";
    REQUIRE(::mkdtemp(text.data()) != nullptr);
    path = text;
  }
  ~Folder() { std::filesystem::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  /// Folders are made as they are needed.
  std::filesystem::path write(const std::filesystem::path& name, std::string_view bytes) const {
    const auto file = path / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << bytes;
    return file;
  }

  std::filesystem::path path;
};

}  // namespace llamavisor::gguf::test
