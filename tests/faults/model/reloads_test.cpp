// Reloads of a model whose file has changed.
#include "fake_world.hpp"

#include <atomic>
#include <catch.hpp>
#include <filesystem>
#include <string>
#include <thread>

namespace llamavisor::faults {
namespace {

namespace fs = std::filesystem;
using Kind = Event::Kind;

/// As downloads do it: a new file takes the old one's name.
void replace(const FakeWorld& world, const testing::FakeModel& model) {
  fs::rename(testing::write_fake_model(world.file("new.gguf"), model), world.model_file());
}

/// Tokens of the server that was started last.
std::string context(const FakeWorld& world) {
  return argument(world.story().events("start").back(), "--ctx-size");
}

TEST_CASE("after a reload the model is what its file is now, no longer what it was") {
  const FakeWorld world("", {.name = "old"});
  auto options = world.cpu();
  options.parallel = 1;
  const auto model = world.load(options);
  const auto before = model.info();
  CHECK(before.name == "old");
  CHECK(before.architecture == "llama");
  CHECK(model.model_type() == ModelType::instruct);
  CHECK(context(world) == "4096");

  replace(
      world,
      {.architecture = "qwen2", .name = "a new one", .context_length = 512, .chat_template = ""});
  CHECK(model.info().name == "old");  // it is the old one that serves
  model.reload();
  const auto after = model.info();
  CHECK(after.name == "a new one");
  CHECK(after.architecture == "qwen2");
  CHECK(model.model_type() == ModelType::base);
  CHECK(context(world) == "512");
  CHECK(model.generate("Hello", greedy(5)).result_or_throw().generated_tokens == 5);
}

TEST_CASE("a context that the old file held down is as large as was asked after a reload") {
  const FakeWorld world("", {.context_length = 512});
  auto options = world.cpu();
  options.parallel = 1;
  const auto model = world.load(options);
  CHECK(context(world) == "512");
  replace(world, {});
  model.reload();
  CHECK(context(world) == "4096");
}

TEST_CASE("a context that was too small to halve may be halved once a reload has made it large") {
  const FakeWorld world("", {.context_length = 256});
  auto options = world.gpu();
  options.device = "vulkan:90";  // on which no other test has left memory to wait for
  options.parallel = 1;
  options.limits.memory_return = {};
  options.when_out_of_memory = OutOfMemory::smaller_context;
  world.write("no_memory", "ggml_vulkan: Device memory allocation of size 1024 failed.\n");
  world.set_script("gpu:devices=Vulkan90 gpu2:die=loading:exit:1 gpu2:text_on_stderr=" +
                   world.file("no_memory").string());
  const auto model = world.load(options);
  CHECK(context(world) == "256");
  replace(world, {});
  model.reload();
  CHECK(model.info().device == "vulkan:90");
  CHECK(world.started("gpu") == 3);
  CHECK(context(world) == "2048");
}

TEST_CASE("a reload of what is no model any more fails as a load does, and the model with it") {
  const FakeWorld world("", {.name = "good"});
  const auto model = world.load(world.gpu());
  SECTION("by another kind of file") {
    world.write("model.gguf", "this is no GGUF file");
  }
  SECTION("by half a file") {
    fs::resize_file(world.model_file(), 40);
  }
  SECTION("by nothing") {
    fs::remove(world.model_file());
  }
  const auto at_load = thrown_by([&] { world.load(world.cpu()); });
  const auto at_reload = thrown_by([&] { model.reload(); });
  CHECK(at_reload.code == at_load.code);
  CHECK(at_reload.message == at_load.message);
  CHECK(model.state() == ModelState::failed);
  CHECK(world.log().comes_to(Kind::failed, 1));
  CHECK(thrown_by([&] { model.generate("Hello", greedy(5)).result_or_throw(); }).code ==
        errc::not_ready);
  CHECK(world.started() == 1);  // nothing was started on it, on no rung
  CHECK(own_children() == 0);
  CHECK(model.info().name == "good");

  testing::write_fake_model(world.model_file(), {.name = "better"});
  model.reload();
  CHECK(model.info().name == "better");
  CHECK(model.state() == ModelState::ready);
}

TEST_CASE("who asks during reloads sees the one file or the other, never a mixture") {
  const FakeWorld world("", {.architecture = "a0", .name = "n0"});
  const auto model = world.load(world.cpu());
  std::atomic<bool> done = false;
  std::atomic<int> torn = 0, seen = 0;
  std::thread reader([&] {
    while (!done) {
      const auto info = model.info();
      torn += info.name.substr(1) != info.architecture.substr(1);
      ++seen;
    }
  });
  for (int reload = 1; reload <= 5; ++reload) {
    const auto number = std::to_string(reload % 2);
    replace(world, {.architecture = "a" + number, .name = "n" + number});
    model.reload();
    CHECK(model.info().name == "n" + number);
  }
  done = true;
  reader.join();
  CHECK(torn == 0);
  CHECK(seen > 0);
}

}  // namespace
}  // namespace llamavisor::faults
