// Engines that are asked for their devices.
#include <llamavisor/device.hpp>

#include "fake_engine.hpp"
#include "fake_world.hpp"

#include <catch.hpp>

namespace llamavisor::faults {
namespace {

using namespace std::chrono_literals;

/// A machine with one RX 9070, and a world that knows only its own state.
class Machine {
 public:
  explicit Machine(std::string_view script) : world_(script) {
    testing::make_fake_pack(world_.file("hip"), "hip");
    write("sys/class/kfd/kfd/topology/nodes/1/properties",
          "gfx_target_version 120001\nvendor_id 4098\ndevice_id 30032\nlocation_id 768\n"
          "domain 0\ndrm_render_minor 128\nunique_id 2246800662264969608\n");
    write("sys/class/drm/renderD128/device/mem_info_vram_total", "17095983104\n");
    write("sys/class/drm/renderD128/device/mem_info_vram_used", "0\n");
    write("sys/class/drm/renderD128/device/mem_info_vram_vendor", "samsung\n");
    write("sys/class/drm/renderD128/device/board_info", "type : cem\n");
    write("dev/kfd", "");
    write("dev/dri/renderD128", "");
  }

  Devices discover(AskEngines ask = AskEngines::always,
                   std::chrono::milliseconds limit = 60s) const {
    return discover_devices(
        {.root = world_.file("machine"), .ask_engines = ask, .engine_limit = limit});
  }

  const FakeWorld& world() const { return world_; }

 private:
  void write(const std::string& name, std::string_view text) const {
    const auto file = world_.file("machine") / name;
    std::filesystem::create_directories(file.parent_path());
    world_.write("machine/" + name, text);
  }

  FakeWorld world_;
  ScopedVariable state_{"XDG_STATE_HOME", world_.file("state").string()};
  ScopedVariable script_{"FAKE_SERVER_FILE", world_.file("script").string()};
  ScopedVariable packs_{"LLAMAVISOR_ENGINE_PATH",
                        world_.file("gpu").string() + ":" + world_.file("hip").string()};
};

std::string names(const Devices& devices) {
  std::string text;
  for (const auto& device : devices.list)
    text += device.name + (device.usable ? " " : "! ");
  return text;
}

TEST_CASE("what only engines list is among the devices, and what the kernel tells stays") {
  const Machine machine("devices=ROCm0,Vulkan0,Vulkan1");
  CHECK(names(machine.discover(AskEngines::no)) == "rocm:0 ");
  const auto devices = machine.discover();
  CHECK(names(devices) == "rocm:0 vulkan:0 vulkan:1 ");
  CHECK(devices.automatic == "rocm:0");
  CHECK(devices.list[0].memory_total == 17095983104);
  CHECK(devices.list[0].model == "fake device");  // better than PCI ids
  CHECK(devices.list[1].memory_total == 16384ULL << 20);
  CHECK(devices.list[1].memory_free == 16000ULL << 20);
}

TEST_CASE("a card that its own engine does not see is not usable, and says so") {
  const Machine machine("devices=Vulkan0");
  const auto devices = machine.discover();
  CHECK(names(devices) == "rocm:0! vulkan:0 ");
  CHECK(devices.automatic == "vulkan:0");
  CHECK(says(devices.list[0].reason, "hip engine"));
  CHECK(says(devices.list[0].reason, "does not list it"));
  CHECK(devices.list[0].engines.empty());
}

TEST_CASE("an engine that breaks over its devices is passed over, and its end is told") {
  const Machine machine("list_devices=fail");
  const auto devices = machine.discover();
  CHECK(names(devices) == "rocm:0! ");
  CHECK(devices.automatic == "cpu");
  CHECK(says(devices.list[0].reason, "it exited with code 1"));
  CHECK(says(devices.why, "the vulkan engine does not list its devices: it exited with code 1"));
}

TEST_CASE("engines that hang over their devices are ended at the limit") {
  const Machine machine("list_devices=hang");
  const auto devices = machine.discover(AskEngines::always, 300ms);
  CHECK(names(devices) == "rocm:0! ");
  CHECK(says(devices.list[0].reason, "it did not answer within 0.3s"));
  wait_until("the questions have ended", [] { return own_children() == 0; });
}

TEST_CASE("an engine's answer is kept until the engine or its surroundings change") {
  const Machine machine("devices=ROCm0,Vulkan0");
  const auto when_not_known = [&] { return names(machine.discover(AskEngines::when_not_known)); };
  CHECK(when_not_known() == "rocm:0 vulkan:0 ");
  machine.world().set_script("devices=ROCm0,Vulkan0,Vulkan1");
  CHECK(when_not_known() == "rocm:0 vulkan:0 ");
  {
    const ScopedVariable other_drivers("VK_DRIVER_FILES", "/other");
    CHECK(when_not_known() == "rocm:0 vulkan:0 vulkan:1 ");
  }
  CHECK(when_not_known() == "rocm:0 vulkan:0 ");
  CHECK(names(machine.discover(AskEngines::always)) == "rocm:0 vulkan:0 vulkan:1 ");
  CHECK(when_not_known() == "rocm:0 vulkan:0 vulkan:1 ");
  machine.world().set_script("devices=ROCm0");
  const auto description = machine.world().file("gpu") / "engine.json";
  std::filesystem::last_write_time(description, std::filesystem::last_write_time(description) + 1s);
  CHECK(when_not_known() == "rocm:0 ");
}

TEST_CASE("what did not answer is asked again") {
  const Machine machine("list_devices=fail");
  CHECK(names(machine.discover(AskEngines::when_not_known)) == "rocm:0! ");
  machine.world().set_script("devices=ROCm0,Vulkan0");
  CHECK(names(machine.discover(AskEngines::when_not_known)) == "rocm:0 vulkan:0 ");
}

TEST_CASE("auto is the GPU that only its engine lists, and answers from it") {
  const FakeWorld world("devices=Vulkan0,Vulkan1");
  const ScopedVariable worth_asking("GGML_VK_VISIBLE_DEVICES", "0,1");
  auto options = world.gpu();
  options.device = "auto";
  const ScopedVariable script("FAKE_SERVER_FILE", world.file("script").string());
  auto model = world.load(options);
  CHECK(model.info().device == "vulkan:0");
  CHECK(model.generate("Hello", greedy(4)).result_or_throw().generated_tokens == 4);
}

TEST_CASE(
    "a backend without a device of its kind says so, and one with an engine and a device is "
    "there") {
  const FakeWorld world("devices=Vulkan0");
  const ScopedVariable state("XDG_STATE_HOME", world.file("state").string());
  const ScopedVariable script("FAKE_SERVER_FILE", world.file("script").string());
  const ScopedVariable worth_asking("GGML_VK_VISIBLE_DEVICES", "0");
  CHECK(find_backend("cpu")->available());
  CHECK(find_backend("vulkan")->available());
  const auto rocm = find_backend("rocm")->available();
  CHECK_FALSE(rocm);
  CHECK(says(rocm.reason, "tools/get-engine hip"));
  world.set_script("list_devices=fail");
  const ScopedVariable other_drivers("VK_DRIVER_FILES", "/other");
  const auto vulkan = find_backend("vulkan")->available();
  CHECK_FALSE(vulkan);
  CHECK(says(vulkan.reason, "there is no vulkan device"));
}

TEST_CASE("several devices of a kind carry one model together") {
  const FakeWorld world("devices=Vulkan0,Vulkan1");
  auto options = world.gpu();
  options.device = "Vulkan:1,vulkan";
  auto model = world.load(options);
  CHECK(model.info().device == "vulkan:1,vulkan:0");
  const auto starts = world.story().events("start");
  REQUIRE(starts.size() == 1);
  CHECK(argument(starts.front(), "--device") == "Vulkan1,Vulkan0");
}

}  // namespace
}  // namespace llamavisor::faults
