// Devices that the engine does not have.
#include "fake_world.hpp"

#include <catch.hpp>
#include <stop_token>
#include <thread>

namespace llamavisor::faults {
namespace {

using namespace std::chrono_literals;
using Kind = Event::Kind;

LoadOptions on_the_seventh(const FakeWorld& world) {
  auto options = world.gpu();
  options.device = "vulkan:7";
  return options;
}

TEST_CASE("a device that the engine does not have is a typed error that lists those it has") {
  const FakeWorld world("devices=Vulkan0,Vulkan1");
  const auto failure = thrown_by([&] { world.load(on_the_seventh(world)); });
  CHECK(failure.code == errc::unknown_device);
  CHECK(failure.cause == Cause::unknown_device);
  CHECK(failure.exit_code == 1);
  CHECK(says(failure.message, "vulkan:7"));
  CHECK(says(failure.message, "it lists vulkan:0 (fake device), vulkan:1 (fake device)"));
  CHECK(world.started() == 1);
  CHECK(world.log().count(Kind::quarantined) == 0);
  CHECK(own_children() == 0);
}

TEST_CASE("a load that may fall back does so from a device that is not there") {
  const FakeWorld world;
  auto options = on_the_seventh(world);
  options.fallback = Fallback::to_cpu;
  CHECK(world.load(options).info().device == "cpu");
  const auto fell_back = world.log().wait_for(Kind::fell_back);
  CHECK(fell_back.failure->code == errc::unknown_device);
  CHECK(world.started("gpu") == 1);
}

TEST_CASE("an engine that does not say which devices it has leaves the error as it is") {
  const FakeWorld world("list_devices=fail");
  const auto failure = thrown_by([&] { world.load(on_the_seventh(world)); });
  CHECK(failure.code == errc::unknown_device);
  CHECK(says(failure.message, "it does not say which it has"));
  CHECK(own_children() == 0);
}

TEST_CASE("an engine that hangs when asked for its devices is ended at the limit") {
  const FakeWorld world("list_devices=hang");
  auto options = on_the_seventh(world);
  options.limits.device_list = 200ms;
  const auto failure = thrown_by([&] { world.load(options); });
  CHECK(failure.code == errc::unknown_device);
  CHECK(says(failure.message, "it does not say which it has"));
  wait_until("the question has ended", [] { return own_children() == 0; });
}

TEST_CASE("a load can be cancelled while its engine hangs over the list of devices") {
  const FakeWorld world("list_devices=hang");
  auto options = on_the_seventh(world);
  options.limits.device_list = 0ms;  // no limit
  std::stop_source stop;
  std::thread canceller([&] {
    wait_until("the engine is asked", [] { return own_child_has("--list-devices"); });
    stop.request_stop();
  });
  const auto failure =
      thrown_by([&] { load_model(world.model_file(), options, stop.get_token()); });
  canceller.join();
  CHECK(failure.code == errc::cancelled);
  wait_until("the question has ended", [] { return own_children() == 0; });
}

}  // namespace
}  // namespace llamavisor::faults
