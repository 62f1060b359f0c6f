// Adapters and projectors on every server of a model, whatever becomes of it.
#include "fake_world.hpp"
#include "unit/gguf/gguf_writer.hpp"

#include <catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>

namespace llamavisor::faults {
namespace {

namespace fs = std::filesystem;
using Kind = Event::Kind;

fs::path write(const FakeWorld& world, std::string_view name, const gguf::test::GgufWriter& gguf) {
  world.write(name, gguf.str());
  return world.file(name);
}

/// With two adapters, whose scales differ, and a projector.
LoadOptions with_added_files(const FakeWorld& world, LoadOptions options) {
  options.adapters = {{write(world, "a.gguf", gguf::test::small_adapter())},
                      {write(world, "b.gguf", gguf::test::small_adapter()), 0.5F}};
  options.projector = write(world, "p.gguf", gguf::test::small_projector());
  return options;
}

void check_added(const FakeWorld& world, const StoryEvent& start) {
  CHECK(argument(start, "--lora") == '"' + world.file("a.gguf").string() + '"');
  CHECK(argument(start, "--lora-scaled") == '"' + world.file("b.gguf").string() + ":0.5\"");
  CHECK(argument(start, "--mmproj") == world.file("p.gguf").string());
}

TEST_CASE("adapters and a projector are there on every rung and after every reload") {
  const FakeWorld world("skip=1 gpu1:die=token:5:signal:KILL");
  const auto model = world.load(with_added_files(world, world.gpu()));
  CHECK(model.generate("Hello", greedy(20)).result_or_throw().device == "cpu");
  model.reload();
  const auto starts = world.story().events("start");
  REQUIRE(starts.size() == 3);
  CHECK(starts[0].at("role").as_string() == "gpu");
  CHECK(starts[1].at("role").as_string() == "cpu");
  for (const auto& start : starts)
    check_added(world, start);
}

TEST_CASE("relative paths are those of the host's folder, not of the engine's") {
  const FakeWorld world;
  auto options = with_added_files(world, world.cpu());
  const auto here = fs::current_path();
  for (auto& adapter : options.adapters)
    adapter.file = adapter.file.lexically_relative(here);
  options.projector = options.projector.lexically_relative(here);
  REQUIRE(options.projector.is_relative());
  const auto model = world.load(options);
  const auto start = world.story().events("start").back();
  const auto told = fs::path(argument(start, "--mmproj"));
  CHECK(told.is_absolute());
  CHECK(fs::equivalent(told, world.file("p.gguf")));
}

TEST_CASE("an adapter that was replaced is not loaded in the place of the old one") {
  const FakeWorld world("skip=1 gpu1:die=token:5:signal:KILL");
  const auto model = world.load(with_added_files(world, world.gpu()));
  write(world, "b.gguf", gguf::test::small_adapter().key("general.version", "2"));
  const auto failure = model.generate("Hello", greedy(20)).result().failure;
  REQUIRE(failure);
  CHECK(failure->code == errc::model_changed);
  CHECK(says(failure->message, "b.gguf"));
  CHECK(world.started() == 1);
  model.reload();  // which takes the new one
  CHECK(model.state() == ModelState::ready);
}

TEST_CASE("a reload finds out what an adapter has become, before it starts anything") {
  const FakeWorld world;
  const auto model = world.load(with_added_files(world, world.gpu()));
  errc code = errc::internal;
  SECTION("gone") {
    fs::remove(world.file("a.gguf"));
    code = errc::model_not_found;
  }
  SECTION("for another architecture") {
    write(world, "a.gguf", gguf::test::small_adapter("qwen2"));
    code = errc::invalid_option;
  }
  SECTION("half a file") {
    fs::resize_file(world.file("p.gguf"), 30);
    code = errc::invalid_model;
  }
  CHECK(thrown_by([&] { model.reload(); }).code == code);
  CHECK(world.started() == 1);
  CHECK(own_children() == 0);
}

}  // namespace
}  // namespace llamavisor::faults
