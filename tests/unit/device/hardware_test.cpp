// Machines are mostly told in tests/fixtures/machines; here is what a folder cannot show.
#include "device/hardware.hpp"

#include "catch.hpp"
#include "device/visible.hpp"
#include "unit/device/fixture_root.hpp"

#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

using namespace llamavisor;
using namespace llamavisor::device;

namespace {

class OneCard {
 public:
  OneCard() {
    root_.write("sys/class/kfd/kfd/topology/nodes/1/properties",
                "gfx_target_version 110000\nlocation_id 768\ndrm_render_minor 128\nunique_id 7\n");
    root_.write("sys/class/drm/renderD128/device/mem_info_vram_total", "17179869184\n");
  }

  const std::filesystem::path& root() const { return root_.path(); }

  void has(std::string_view node) const { root_.write(node, ""); }

  /// The card, for a user who may not open what ends like this.
  Device seen(const std::string& closed = "nothing") const {
    const auto devices = read_hardware(
        {.root = root_.path(),
         .variable = [](const std::string&) { return std::nullopt; },
         .variables = [](const auto&) {},
         .may_open = [&](const std::filesystem::path& node) { return node.filename() != closed; }});
    REQUIRE(devices.size() == 1);
    return devices[0];
  }

 private:
  test::FixtureRoot root_;
};

bool says(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a card whose nodes may not be opened says so, with the groups that mend it",
          "[device]") {
  const OneCard card;
  card.has("dev/kfd");
  card.has("dev/dri/renderD128");
  CHECK(card.seen().reason.empty());
  for (const std::string node : {"kfd", "renderD128"}) {
    const auto reason = card.seen(node).reason;
    CHECK(says(reason, node));
    CHECK(says(reason, "render and video"));
  }
}

TEST_CASE("a card in a container without its nodes names the one that is not there", "[device]") {
  const OneCard card;
  CHECK(says(card.seen().reason, "there is no /dev/kfd"));
  card.has("dev/kfd");
  CHECK(says(card.seen().reason, "there is no /dev/dri/renderD128"));
}

TEST_CASE("files that no kernel would show neither block nor fill the memory", "[device]") {
  const OneCard card;
  const auto folder = card.root() / "sys/class/drm/renderD128/device";
  REQUIRE(::mkfifo((folder / "mem_info_vram_used").c_str(), 0600) == 0);
  std::ofstream(folder / "product_name") << "A card\n" << std::flush;
  std::filesystem::resize_file(folder / "product_name", std::uintmax_t{1} << 40);  // sparse
  std::ofstream(folder / "mem_info_gtt_total") << std::flush;
  std::filesystem::resize_file(folder / "mem_info_gtt_total", std::uintmax_t{1} << 40);
  std::filesystem::create_directory(folder / "board_info");
  const auto device = card.seen();
  CHECK(device.model == "A card");
  CHECK(device.memory_total == 17179869184);
  CHECK(device.memory_free == device.memory_total);
}

TEST_CASE("a list of visible devices takes positions and beginnings of UUIDs, to its first fault",
          "[device]") {
  using Places = std::vector<std::size_t>;
  const std::vector<std::string> uuids{"GPU-0a", "GPU-1b", ""};
  CHECK(seen_through(std::nullopt, uuids) == Places{0, 1, 2});
  CHECK(seen_through("", uuids).empty());
  CHECK(seen_through("2,0", uuids) == Places{2, 0});
  CHECK(seen_through(" 1 , GPU-0", uuids) == Places{1, 0});
  CHECK(seen_through("1,3,0", uuids) == Places{1});
  CHECK(seen_through("1,1,0", uuids) == Places{1});
  CHECK(seen_through("-1,0", uuids).empty());
  CHECK(seen_through("0,,1", uuids) == Places{0});
  CHECK(seen_through("0", {}).empty());
}
