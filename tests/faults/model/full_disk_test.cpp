// What the library writes, where there is no room for it.
#include "full_disk.hpp"

#include "device/quarantine.hpp"
#include "fake_world.hpp"
#include "support/temporary_folder.hpp"

#include <catch.hpp>
#include <filesystem>
#include <string>
#include <system_error>

namespace llamavisor::faults {
namespace {

using Kind = Event::Kind;

std::string text_of(std::errc error) {
  return std::make_error_code(error).message();
}

TEST_CASE("a full disk under the socket's folder is told with what to do, before any spawn") {
  const FakeWorld world;
  const FullDisk disk;
  disk.fill();
  auto options = world.cpu();
  options.runtime_dir = disk.path();
  const auto failure = thrown_by([&] { world.load(options); });
  CHECK(failure.code == errc::invalid_option);
  CHECK(says(failure.message, disk.path().string()));
  CHECK(says(failure.message, "LoadOptions::runtime_dir"));
  if (disk.mounted()) {
    CHECK(says(failure.message, text_of(std::errc::no_space_on_device)));
    CHECK(says(failure.message, "make room"));
  }
  CHECK(world.started() == 0);
  CHECK(own_children() == (disk.mounted() ? 1U : 0U));  // the disk's keeper
}

TEST_CASE("a model whose reload found a full disk is reloaded once there is room") {
  const FakeWorld world;
  const FullDisk disk;
  auto options = world.cpu();
  if (disk.mounted()) options.runtime_dir = disk.path();
  const auto model = world.load(options);
  disk.fill();
  if (disk.mounted()) CHECK(thrown_by([&] { model.reload(); }).cause == Cause::address_in_use);
  disk.make_room();
  model.reload();
  CHECK(model.generate("Hello", greedy(5)).result_or_throw().generated_tokens == 5);
}

TEST_CASE("a disk with room for the folder but not for the socket ends the load with what to do") {
  const FakeWorld world;
  const FullDisk disk;
  disk.fill(1);
  auto options = world.cpu();
  options.runtime_dir = disk.path();
  const auto failure = thrown_by([&] { world.load(options); });
  CHECK(says(failure.message, "runtime_dir"));
  if (disk.mounted()) CHECK(failure.cause == Cause::address_in_use);
  CHECK(world.log().count(Kind::ready) == 0);
}

TEST_CASE("a quarantine that finds a full disk is told, holds, and leaves the old list whole") {
  const FakeWorld world;
  const FullDisk disk;
  auto options = world.gpu();
  const ScopedVariable state("XDG_STATE_HOME", disk.path().string());
  device::Quarantine list;
  const device::QuarantineEntry old{
      .device = "vulkan:9", .engine = "vulkan", .build = 1, .message = std::string(3000, 'm')};
  if (disk.mounted()) REQUIRE_FALSE(list.add(old));
  disk.fill();
  world.write("lost", "VK_ERROR_DEVICE_LOST\n");
  world.set_script("skip=1 gpu:die=token:5:signal:ABRT gpu:text_on_stderr=" +
                   world.file("lost").string());
  const auto model = world.load(options);
  CHECK(model.generate("Hello", greedy(20)).result_or_throw().device == "cpu");
  const auto told = world.log().wait_for(Kind::quarantined);
  CHECK(says(told.message, "for this process only"));
  CHECK(says(told.message, list.file().string()));
  if (disk.mounted()) {
    CHECK(says(told.message, text_of(std::errc::no_space_on_device)));
    CHECK(test::read_file(list.file()).size() > 3000);
    CHECK(device::Quarantine().holds("vulkan:9", "vulkan", 1));
  }
  CHECK(thrown_by([&] { world.load(options); }).code == errc::device_quarantined);
}

}  // namespace
}  // namespace llamavisor::faults
