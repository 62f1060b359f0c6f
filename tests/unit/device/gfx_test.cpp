#include "device/gfx.hpp"

#include <llamavisor/error.hpp>

#include "catch.hpp"

#include <map>
#include <string>

using namespace llamavisor;
using namespace llamavisor::device;

namespace {

GfxOverrides overrides(const std::map<std::string, std::string>& environment) {
  return GfxOverrides::read([&](const GfxOverrides::Visit& visit) {
    for (const auto& [name, value] : environment)
      visit(name, value);
  });
}

}  // namespace

TEST_CASE("a target version is named with minor and stepping as hexadecimal digits", "[device]") {
  CHECK(gfx_name(110000) == "gfx1100");
  CHECK(gfx_name(110501) == "gfx1151");
  CHECK(gfx_name(120001) == "gfx1201");
  CHECK(gfx_name(100300) == "gfx1030");
  CHECK(gfx_name(90402) == "gfx942");
  CHECK(gfx_name(90010) == "gfx90a");
  CHECK(gfx_name(80003) == "gfx803");
}

TEST_CASE("what is no target version has no name", "[device]") {
  CHECK_FALSE(gfx_name(0));
  CHECK_FALSE(gfx_name(9999));
  CHECK_FALSE(gfx_name(90016));    // the stepping has one digit
  CHECK_FALSE(gfx_name(91600));    // and so has the minor
  CHECK_FALSE(gfx_name(1000000));  // no such major
  CHECK_FALSE(gfx_name(~0ULL));
}

TEST_CASE("an override holds for all nodes, one with a number for its node", "[device]") {
  const auto some = overrides({{"HSA_OVERRIDE_GFX_VERSION", "11.0.0"},
                               {"HSA_OVERRIDE_GFX_VERSION_2", "9.0.10"},
                               {"HSA_OVERRIDE_GFX_VERSION_X", "nonsense"},
                               {"HSA_OVERRIDE_GFX_VERSIONS", "nonsense"}});
  CHECK(some.for_node(1) == "gfx1100");
  CHECK(some.for_node(2) == "gfx90a");
  CHECK_FALSE(overrides({{"PATH", "/bin"}, {"HSA_OVERRIDE_GFX_VERSION", ""}}).for_node(1));
}

TEST_CASE("an override that is no version names its variable and its value", "[device]") {
  for (const std::string value : {"11.0", "11.0.0.0", "64.0.0", "11.256.0", "11.0.256", "gfx1100",
                                  "11.0.x", "-1.0.0", " 11.0.0", "11..0", "."}) {
    INFO(value);
    try {
      overrides({{"HSA_OVERRIDE_GFX_VERSION_3", value}});
      FAIL("no error");
    } catch (const Error& error) {
      CHECK(error.code() == errc::invalid_option);
      CHECK(std::string(error.what()).find("HSA_OVERRIDE_GFX_VERSION_3=" + value) !=
            std::string::npos);
    }
  }
  CHECK(overrides({{"HSA_OVERRIDE_GFX_VERSION", "63.255.255"}}).for_node(0) == "gfx63ffff");
}
