#include "device/quarantine.hpp"

#include "catch.hpp"
#include "support/temporary_folder.hpp"

#include <unistd.h>

#include <filesystem>
#include <iterator>
#include <string>
#include <system_error>

using namespace llamavisor::device;
using llamavisor::test::read_file;
using llamavisor::test::TemporaryFolder;

namespace {

QuarantineEntry entry(const std::string& device) {
  return {.device = device, .engine = "vulkan", .build = 7, .cause = "hung", .message = "it hung"};
}

/// A state folder in which the next write finds no room: the name that the new list is made under
/// leads to /dev/full. Any user can do that, on any disk.
class FullFolder {
 public:
  explicit FullFolder(const TemporaryFolder& folder)
      : aside_(folder.path() / ("quarantine.json." + std::to_string(::getpid()))) {
    std::filesystem::create_symlink("/dev/full", aside_);
  }
  void make_room() const { std::filesystem::remove(aside_); }

 private:
  std::filesystem::path aside_;
};

long files_in(const TemporaryFolder& folder) {
  return std::distance(std::filesystem::directory_iterator(folder.path()),
                       std::filesystem::directory_iterator());
}

}  // namespace

TEST_CASE("a quarantine is seen by whoever reads the list next, until it is cleared", "[device]") {
  const TemporaryFolder folder;
  CHECK(Quarantine(folder.path()).list().empty());
  CHECK_FALSE(Quarantine(folder.path()).add(entry("vulkan:0")));
  CHECK(Quarantine(folder.path()).holds("vulkan:0", "vulkan", 7));
  CHECK_FALSE(Quarantine(folder.path()).holds("vulkan:0", "vulkan", 8));
  CHECK_FALSE(Quarantine(folder.path()).holds("vulkan:1", "vulkan", 7));
  Quarantine(folder.path()).clear();
  CHECK(Quarantine(folder.path()).list().empty());
}

TEST_CASE("a full disk leaves the old list whole, and nothing half-made beside it", "[device]") {
  const TemporaryFolder folder;
  REQUIRE_FALSE(Quarantine(folder.path()).add(entry("vulkan:0")));
  const auto before = read_file(Quarantine(folder.path()).file());
  const auto files = files_in(folder);
  const FullFolder full(folder);
  CHECK(Quarantine(folder.path()).add(entry("vulkan:1")) == std::errc::no_space_on_device);
  CHECK(read_file(Quarantine(folder.path()).file()) == before);
  CHECK(files_in(folder) == files);
}

TEST_CASE("what a full disk does not take holds for this process, and is written with the next",
          "[device]") {
  const TemporaryFolder folder;
  const FullFolder full(folder);
  REQUIRE(Quarantine(folder.path()).add(entry("vulkan:1")));
  CHECK(Quarantine(folder.path()).holds("vulkan:1", "vulkan", 7));
  full.make_room();
  REQUIRE_FALSE(Quarantine(folder.path()).add(entry("vulkan:2")));
  const auto written = read_file(Quarantine(folder.path()).file());
  CHECK(written.find("vulkan:1") != std::string::npos);
  CHECK(written.find("vulkan:2") != std::string::npos);
  CHECK(Quarantine(folder.path()).list().size() == 2);
}

TEST_CASE("clearing lifts also what was never written", "[device]") {
  const TemporaryFolder folder;
  const FullFolder full(folder);
  REQUIRE(Quarantine(folder.path()).add(entry("vulkan:1")));
  Quarantine(folder.path()).clear();
  CHECK(Quarantine(folder.path()).list().empty());
}
