// Loads that find too little memory on a GPU.
#include "fake_world.hpp"

#include <boost/json.hpp>

#include <catch.hpp>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace llamavisor::faults {
namespace {

using namespace std::chrono_literals;
using Kind = Event::Kind;

/// On a device of its own: that another test has left one is known to the whole process.
LoadOptions on_device(const FakeWorld& world, int number) {
  auto options = world.gpu();
  options.device = "vulkan:" + std::to_string(number);
  return options;
}

/// For sections: each begins on a device that nobody has left.
int fresh_device() {
  static int last = 100;
  return ++last;
}

/// The GPU has so little memory for the servers that `which` names ("gpu2:", ...).
void let_memory_lack(const FakeWorld& world, const std::vector<std::string>& which, int device,
                     const std::string& more = {}) {
  world.write("no_memory", "ggml_vulkan: Device memory allocation of size 1024 failed.\n");
  std::string script = "skip=1 gpu:devices=Vulkan" + std::to_string(device) + " " + more;
  for (const auto& condition : which) {
    script += " " + condition + "die=loading:exit:1 " + condition +
              "text_on_stderr=" + world.file("no_memory").string();
  }
  world.set_script(script);
}

TEST_CASE("memory that comes back late after another model was closed is waited for") {
  const FakeWorld world;
  let_memory_lack(world, {"gpu2:", "gpu3:"}, 1);
  world.load(on_device(world, 1)).close();
  const auto model = world.load(on_device(world, 1));
  CHECK(model.info().device == "vulkan:1");
  CHECK(model.generate("Hello", greedy(5)).result_or_throw().generated_tokens == 5);
  CHECK(world.started("gpu") == 4);
  CHECK(world.started("cpu") == 0);
  CHECK(world.log().comes_to(Kind::restarting, 2));
  CHECK(says(world.log().wait_for(Kind::restarting).message, "memory"));
  CHECK(world.log().count(Kind::quarantined) == 0);
  CHECK(world.log().count(Kind::fell_back) == 0);
}

TEST_CASE("memory that comes back late after a reload, and after a crash, is waited for") {
  const FakeWorld world;
  let_memory_lack(world, {"gpu2:", "gpu4:"}, 2, "gpu3:die=token:5:signal:SEGV");
  auto options = on_device(world, 2);
  options.same_rung_retries = 1;
  options.recovery.restarts = 1;  // the try after the crash takes it all
  const auto model = world.load(options);
  model.reload();
  CHECK(world.started("gpu") == 3);
  const auto result = model.generate("Hello", greedy(20)).result_or_throw();
  CHECK(result.device == "vulkan:2");
  CHECK(result.text == unbroken("Hello", greedy(20)).text);
  CHECK(world.started("gpu") == 5);
  CHECK(world.started("cpu") == 0);
}

TEST_CASE("memory that does not come back within the limit is out of memory, with one cause") {
  const FakeWorld world;
  let_memory_lack(world, {"gpu2+:"}, 3);
  auto options = on_device(world, 3);
  options.limits.memory_return = 400ms;
  world.load(options).close();
  const auto failure = thrown_by([&] { world.load(options); });
  CHECK(failure.code == errc::out_of_memory);
  CHECK(failure.phase == Phase::load);
  CHECK(failure.causes.empty());
  CHECK(world.started("gpu") >= 3);
  CHECK(world.log().count(Kind::quarantined) == 0);

  options.fallback = Fallback::to_cpu;
  CHECK(world.load(options).info().device == "cpu");
}

TEST_CASE("where nobody has left the device, a lack of memory is not waited for") {
  const FakeWorld world;
  let_memory_lack(world, {"gpu:"}, 4);
  for (int load = 1; load <= 2; ++load) {  // the first one's own end is no reason for the second
    CHECK(thrown_by([&] { world.load(on_device(world, 4)); }).code == errc::out_of_memory);
    CHECK(world.started("gpu") == load);
  }
}

TEST_CASE("the wait for memory can be turned off, and ends with a cancelled load") {
  const FakeWorld world;
  const int device = fresh_device();
  let_memory_lack(world, {"gpu2+:"}, device);
  auto options = on_device(world, device);
  world.load(options).close();
  SECTION("turned off") {
    options.limits.memory_return = 0ms;
    CHECK(thrown_by([&] { world.load(options); }).code == errc::out_of_memory);
    CHECK(world.started("gpu") == 2);
  }
  SECTION("cancelled") {
    options.limits.memory_return = 10min;
    std::stop_source stop;
    options.on_event = [&](const Event& event) {
      if (event.kind == Kind::restarting) stop.request_stop();
    };
    const auto failure =
        thrown_by([&] { load_model(world.model_file(), options, stop.get_token()); });
    CHECK(failure.code == errc::cancelled);
    CHECK(own_children() == 0);
  }
}

TEST_CASE("a load without memory is tried once with fewer layers, where that is allowed") {
  const FakeWorld world;
  const int device = fresh_device();
  let_memory_lack(world, {"gpu1:"}, device, "offloaded=2/3");
  auto options = on_device(world, device);
  options.when_out_of_memory = OutOfMemory::fewer_layers;
  SECTION("as many as fit instead of all") {
    options.gpu_layers = -1;
    const auto model = world.load(options);
    const auto starts = world.story().events("start");
    REQUIRE(starts.size() == 2);
    CHECK(argument(starts[0], "--n-gpu-layers") == "all");
    CHECK(argument(starts[1], "--n-gpu-layers") == "auto");
    CHECK(argument(starts[1], "--fit") == "on");
    CHECK(says(world.log().wait_for(Kind::warning).message, "as fit instead of all"));
    CHECK(model.info().gpu_layers == 2);
  }
  SECTION("half of a number") {
    options.gpu_layers = 2;
    const auto model = world.load(options);
    const auto starts = world.story().events("start");
    REQUIRE(starts.size() == 2);
    CHECK(argument(starts[1], "--n-gpu-layers") == "1");
    const auto warning = world.log().wait_for(Kind::warning);
    CHECK(says(warning.message, "1 layers on the GPU instead of 2"));
    CHECK(warning.failure->cause == Cause::out_of_memory);
    CHECK(model.info().device == options.device);
  }
}

TEST_CASE("a load without memory is tried once with half of its context, where that is allowed") {
  const FakeWorld world;
  let_memory_lack(world, {"gpu1:"}, 9);
  auto options = on_device(world, 9);
  options.when_out_of_memory = OutOfMemory::smaller_context;
  const auto model = world.load(options);
  const auto starts = world.story().events("start");
  REQUIRE(starts.size() == 2);
  CHECK(argument(starts[0], "--ctx-size") == std::to_string(4096 * 4));
  CHECK(argument(starts[1], "--ctx-size") == std::to_string(2048 * 4));
  CHECK(says(world.log().wait_for(Kind::warning).message, "2048 tokens"));
  CHECK(model.info().context_length == 2048);

  model.reload();  // a new load is as large as it was asked to be
  CHECK(model.info().context_length == 4096);
}

TEST_CASE("a smaller load that lacks memory as well goes on as Fallback says") {
  const FakeWorld world;
  const int device = fresh_device();
  let_memory_lack(world, {"gpu:"}, device);
  auto options = on_device(world, device);
  options.when_out_of_memory = OutOfMemory::smaller_context;
  SECTION("the next device, as large as it was asked for") {
    options.fallback = Fallback::to_cpu;
    const auto model = world.load(options);
    CHECK(model.info().device == "cpu");
    CHECK(model.info().context_length == 4096);
    CHECK(world.log().comes_to(Kind::fell_back, 1));
  }
  SECTION("the typed error, with both causes") {
    const auto failure = thrown_by([&] { world.load(options); });
    CHECK(failure.code == errc::out_of_memory);
    CHECK(failure.causes.size() == 2);
  }
  CHECK(world.started("gpu") == 2);
}

TEST_CASE("a load that may not be made smaller is not") {
  const FakeWorld world;
  let_memory_lack(world, {"gpu:"}, 11);
  auto options = on_device(world, 11);
  CHECK(thrown_by([&] { world.load(options); }).code == errc::out_of_memory);
  CHECK(world.started("gpu") == 1);
  options.fallback = Fallback::to_cpu;
  CHECK(world.load(options).info().device == "cpu");
  CHECK(world.started("gpu") == 2);
  CHECK(world.log().count(Kind::warning) == 0);
}

}  // namespace
}  // namespace llamavisor::faults
