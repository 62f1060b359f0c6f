#include "backend/device_list_cache.hpp"

#include "catch.hpp"
#include "support/temporary_folder.hpp"

#include <fstream>
#include <string>
#include <vector>

using llamavisor::backend::DeviceListCache;
using llamavisor::server::ListedDevice;
using llamavisor::test::TemporaryFolder;

TEST_CASE("an answer is found again under its key, and no other", "[backend]") {
  const TemporaryFolder folder;
  const auto file = folder.path() / "new folder" / "lists.json";
  const std::vector<ListedDevice> devices{{"vulkan:0", "A card \"x\"", 1ULL << 63, 7}};
  DeviceListCache(file).keep({{"one", devices}, {"none", {}}});
  CHECK(DeviceListCache(file).find("one") == devices);
  CHECK(DeviceListCache(file).find("none") == std::vector<ListedDevice>{});
  CHECK_FALSE(DeviceListCache(file).find("two"));
  DeviceListCache(file).keep({{"two", devices}, {"one", {}}});
  CHECK(DeviceListCache(file).find("two") == devices);
  CHECK(DeviceListCache(file).find("one") == std::vector<ListedDevice>{});
  CHECK(DeviceListCache(file).find("none"));
}

TEST_CASE("the oldest answers make room", "[backend]") {
  const TemporaryFolder folder;
  const DeviceListCache cache(folder.path() / "lists.json");
  for (int number = 0; number < 70; ++number)
    cache.keep({{std::to_string(number), {}}});
  CHECK(cache.find("69"));
  CHECK(cache.find("6"));
  CHECK_FALSE(cache.find("5"));
}

TEST_CASE("a damaged list of answers is an empty one, and is mended by the next", "[backend]") {
  const TemporaryFolder folder;
  const auto file = folder.path() / "lists.json";
  for (const char* text : {"", "{", "[]", "{\"lists\":1}", "{\"lists\":[1,{},{\"key\":\"a\"}]}",
                           "{\"lists\":[{\"key\":1,\"devices\":[1]}]}", "\xff\xfe"}) {
    CAPTURE(text);
    std::ofstream(file, std::ios::trunc) << text;
    CHECK_FALSE(DeviceListCache(file).find("a"));
    DeviceListCache(file).keep({{"a", {}}});
    CHECK(DeviceListCache(file).find("a"));
  }
}
