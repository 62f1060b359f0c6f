#include <llamavisor/engine.hpp>

#include "catch.hpp"
#include "engine_surroundings.hpp"
#include "pack_folder.hpp"
#include "unit/expect.hpp"

#include <stdlib.h>

#include <filesystem>
#include <string>

using namespace llamavisor;
using namespace llamavisor::test;
namespace fs = std::filesystem;

TEST_CASE("packs in the user's data folder are found, in the order of their names", "[engine]") {
  Surroundings surroundings;
  for (const auto* flavour : {"vulkan", "cpu", "hip"}) {
    make_pack(surroundings.user_engines() / flavour, flavour);
  }
  const auto root = surroundings.user_engines();
  CHECK(found_in(surroundings) ==
        std::vector<fs::path>{root / "cpu", root / "hip", root / "vulkan"});
}

TEST_CASE("without XDG_DATA_HOME, or with a relative one, the home folder counts", "[engine]") {
  Surroundings surroundings;
  const auto root = surroundings.temporary.path() / "home/.local/share/llamavisor/engines";
  make_pack(root / "cpu");
  ::setenv("XDG_DATA_HOME", GENERATE("", "some/where"), 1);
  CHECK(found_in(surroundings) == std::vector<fs::path>{root / "cpu"});
}

TEST_CASE("what is no usable pack in a common place is passed over", "[engine]") {
  Surroundings surroundings;
  const auto root = surroundings.user_engines();
  make_pack(root / "cpu");
  fs::create_directories(root / "empty");
  write_text(root / "file", "x");
  make_pack(root / "without-server");
  fs::remove(root / "without-server/llama-server");
  CHECK(found_in(surroundings) == std::vector<fs::path>{root / "cpu"});
}

TEST_CASE("LLAMAVISOR_ENGINE_PATH comes first: packs, and folders of packs", "[engine]") {
  Surroundings surroundings;
  make_pack(surroundings.user_engines() / "cpu");
  const auto one = surroundings.temporary.path() / "one pack";
  const auto many = surroundings.temporary.path() / "many";
  make_pack(one);
  make_pack(many / "b");
  make_pack(many / "a");
  fs::create_directories(many / "no pack");
  surroundings.set_path("::" + one.string() + ":" + many.string() + "/:");
  CHECK(found_in(surroundings) ==
        std::vector<fs::path>{one, many / "a", many / "b", surroundings.user_engines() / "cpu"});
}

TEST_CASE("a pack that is found twice is one engine", "[engine]") {
  Surroundings surroundings;
  const auto root = surroundings.user_engines();
  make_pack(root / "cpu");
  const auto link = surroundings.temporary.path() / "link";
  fs::create_directory_symlink(root / "cpu", link);
  surroundings.set_path(link.string());
  CHECK(found_in(surroundings) == std::vector<fs::path>{link});
}

TEST_CASE("a place that LLAMAVISOR_ENGINE_PATH names must hold a usable pack", "[engine]") {
  Surroundings surroundings;
  make_pack(surroundings.user_engines() / "cpu");
  const auto place = surroundings.temporary.path() / "named";
  surroundings.set_path(place.string());
  SECTION("it is not there") {}
  SECTION("it is empty") {
    fs::create_directory(place);
  }
  SECTION("its pack is damaged") {
    make_pack(place);
    write_text(place / "engine.json", "{");
  }
  SECTION("one of its packs is damaged") {
    make_pack(place / "a");
    make_pack(place / "b");
    fs::remove(place / "b/llama-server");
  }
  const auto failure = thrown_by([] { find_engines(); });
  CHECK(failure.code == errc::engine_broken);
  CHECK(says(failure.message, place.string()));
}

TEST_CASE("the environment is read at each call", "[engine]") {
  Surroundings surroundings;
  const auto place = surroundings.temporary.path() / "later";
  make_pack(place);
  CHECK(found_in(surroundings).empty());
  surroundings.set_path(place.string());
  CHECK(found_in(surroundings) == std::vector<fs::path>{place});
}
