#include "device/departures.hpp"

#include "catch.hpp"

using namespace llamavisor::device;
using namespace std::chrono_literals;

TEST_CASE("the last departure of each device is known to the whole process", "[device]") {
  CHECK_FALSE(Departures::last("rocm:6"));
  const Departures::Time first{1s}, second{2s};
  Departures::note("rocm:6", first);
  Departures::note("rocm:7", first);
  Departures::note("rocm:6", second);
  CHECK(Departures::last("rocm:6") == second);
  CHECK(Departures::last("rocm:7") == first);
}
