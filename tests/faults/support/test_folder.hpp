// A folder for one test.
#pragma once

#include <filesystem>
#include <string_view>

namespace llamavisor::testing {

/// A new folder below the system's temporary one, removed with all that is in it.
class TestFolder {
 public:
  /// `name` is the folder's last part, as odd as a test likes.
  explicit TestFolder(std::string_view name = "t");
  ~TestFolder();
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::filesystem::path& name) const { return path_ / name; }

 private:
  std::filesystem::path root_, path_;
};

}  // namespace llamavisor::testing
