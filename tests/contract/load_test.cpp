// Loads that must fail: a typed error, at most one process, and nothing left behind.
#include "setup.hpp"

#include <catch.hpp>
#include <filesystem>
#include <stop_token>
#include <string>

namespace llamavisor::contract {
namespace {

namespace fs = std::filesystem;

/// A load that fails, and what it started.
struct FailedLoad {
  Failure failure;
  int spawned = 0;
};

FailedLoad fail_to_load(const fs::path& model, LoadOptions options) {
  EventLog log;
  options.on_event = log.handler();
  auto failure = thrown_by([&] { load_model(model, options); });
  CHECK(own_children() == 0);
  // Events of a load that spawned something end with `failed`.
  if (failure.phase != Phase::none) log.wait_for(Event::Kind::failed);
  return {.failure = std::move(failure), .spawned = log.count(Event::Kind::started)};
}

TEST_CASE("a model file that is not there is a typed error, and nothing is spawned") {
  const TemporaryFolder folder;
  const auto load = fail_to_load(folder.path() / "none.gguf", cpu_options());
  CHECK(load.failure.code == errc::model_not_found);
  CHECK(says(load.failure.message, "none.gguf"));
  CHECK(load.spawned == 0);
  CHECK(fail_to_load(folder.path(), cpu_options()).failure.code == errc::model_not_found);
}

TEST_CASE("a file that is no GGUF is a typed error, and nothing is spawned") {
  const TemporaryFolder folder;
  for (const std::string text : {"", "GG", "this is no model at all, but it is long enough"}) {
    const auto load = fail_to_load(folder.write("bad.gguf", text), cpu_options());
    CHECK(load.failure.code == errc::invalid_model);
    CHECK(load.spawned == 0);
  }
}

TEST_CASE("a truncated GGUF is an invalid model, after one spawn at most") {
  const TemporaryFolder folder;
  const auto whole = read_file(ascii_model());
  for (const auto size : {whole.size() / 50, whole.size() / 2, whole.size() - 1}) {
    INFO(size << " of " << whole.size() << " bytes");
    const auto load = fail_to_load(folder.write("cut.gguf", whole.substr(0, size)), cpu_options());
    CHECK(load.failure.code == errc::invalid_model);
    CHECK(load.spawned <= 1);
  }
}

TEST_CASE("an architecture that the engine does not know is unsupported, after one spawn") {
  const TemporaryFolder folder;
  const auto bytes = with_replaced(read_file(ascii_model()), "llama", "lloma");
  const auto load = fail_to_load(folder.write("new.gguf", bytes), cpu_options());
  CHECK(load.failure.code == errc::unsupported_model);
  CHECK(load.failure.cause == Cause::unknown_model_architecture);
  CHECK(load.failure.exit_code == 1);
  CHECK(load.failure.phase == Phase::load);
  CHECK_FALSE(load.failure.last_lines.empty());
  CHECK(says(load.failure.message, "get-engine"));
  CHECK(load.spawned == 1);
}

TEST_CASE("an unknown device is a typed error that lists those there are") {
  for (const char* device : {"quantum:0", "cpu:1", "vulkan:x", "vulkan:-1", ""}) {
    auto options = cpu_options();
    options.device = device;
    const auto load = fail_to_load(ascii_model(), options);
    CHECK(load.failure.code == errc::unknown_device);
    CHECK(says(load.failure.message, "vulkan"));
    CHECK(load.spawned == 0);
  }
}

TEST_CASE("a Vulkan device that is not there is a typed error after one spawn, never the CPU") {
  auto options = vulkan_options();
  options.device = "vulkan:7";
  const auto load = fail_to_load(ascii_model(), options);
  CHECK(load.failure.code == errc::unknown_device);
  CHECK(load.failure.cause == Cause::unknown_device);
  CHECK(says(load.failure.message, "it lists"));
  CHECK(load.spawned == 1);
}

TEST_CASE("an engine of another flavour than the device is refused") {
  auto options = cpu_options();
  options.engine = vulkan_engine();
  CHECK(fail_to_load(ascii_model(), options).failure.code == errc::invalid_option);
}

TEST_CASE("server arguments that the supervisor owns are refused before any spawn") {
  for (const char* argument : {"--port", "--host=0.0.0.0", "--api_key", "-m", "-c", "--no-slots"}) {
    auto options = cpu_options();
    options.server_args = {argument, "1"};
    const auto load = fail_to_load(ascii_model(), options);
    CHECK(load.failure.code == errc::refused_server_argument);
    CHECK(load.spawned == 0);
  }
}

TEST_CASE("a server argument that the server does not know ends the load after one spawn") {
  auto options = cpu_options();
  options.server_args = {"--no-such-flag"};
  const auto load = fail_to_load(ascii_model(), options);
  CHECK(load.failure.code == errc::load_failed);
  CHECK(load.failure.cause == Cause::bad_argument);
  CHECK(says(load.failure.message, "server_args"));
  CHECK(load.spawned == 1);
}

TEST_CASE("an engine that lacks a required flag is too old, and nothing is started") {
  const TemporaryFolder folder;
  const auto pack = folder.path() / "cpu";
  copy_pack(cpu_engine(), pack);
  const auto description = read_file(pack / "engine.json");
  folder.write("cpu/engine.json", with_replaced(description, "\"--alias\"", "\"--atlas\""));
  auto options = cpu_options();
  options.engine = pack;
  const auto load = fail_to_load(ascii_model(), options);
  CHECK(load.failure.code == errc::engine_too_old);
  CHECK(says(load.failure.message, "--alias"));
  CHECK(says(load.failure.message, "tools/get-engine cpu"));
}

TEST_CASE("an engine that lacks optional flags serves all the same") {
  const TemporaryFolder folder;
  const auto pack = folder.path() / "cpu";
  copy_pack(cpu_engine(), pack);
  auto description = read_file(pack / "engine.json");
  for (const auto& [from, to] : {std::pair{"\"--fit\"", "\"--fat\""},
                                 {"\"--no-ui\"", "\"--no-xx\""},
                                 {"\"--offline\"", "\"--offlane\""},
                                 {"\"--cache-ram\"", "\"--cache-rom\""},
                                 {"\"--threads-http\"", "\"--threads-htpp\""}}) {
    description = with_replaced(description, from, to);
  }
  folder.write("cpu/engine.json", description);
  auto options = cpu_options();
  options.engine = pack;
  const auto model = load_model(ascii_model(), options);
  CHECK(argument_of(own_server(), "--cache-ram").empty());
  serves(model);
}

TEST_CASE("a folder that is no engine is a typed error that names the command") {
  const TemporaryFolder folder;
  auto options = cpu_options();
  options.engine = folder.path();
  auto load = fail_to_load(ascii_model(), options);
  CHECK(load.failure.code == errc::engine_broken);
  CHECK(says(load.failure.message, "tools/get-engine"));
  options.engine = folder.path() / "none";
  CHECK(fail_to_load(ascii_model(), options).failure.code == errc::engine_broken);
}

TEST_CASE("an engine with a damaged or missing library is broken, and the library is named") {
  const TemporaryFolder folder;
  const auto pack = folder.path() / "cpu";
  copy_pack(cpu_engine(), pack);
  auto options = cpu_options();
  options.engine = pack;
  SECTION("missing") {
    fs::remove(pack / "libllama.so.0");
    const auto load = fail_to_load(ascii_model(), options);
    CHECK(load.failure.code == errc::engine_broken);
    CHECK(load.failure.cause == Cause::missing_library);
    CHECK(load.failure.exit_code == 127);
    CHECK(says(load.failure.message, "libllama.so.0"));
    CHECK(load.spawned == 1);
  }
  SECTION("damaged") {
    folder.write("cpu/libllama.so.0", "not a library");
    const auto load = fail_to_load(ascii_model(), options);
    CHECK(load.failure.code == errc::engine_broken);
    CHECK(load.failure.cause == Cause::damaged_library);
    CHECK(says(load.failure.message, "libllama.so.0"));
    CHECK(load.spawned == 1);
  }
}

TEST_CASE("a load that is cancelled leaves nothing, and is no crash") {
  EventLog log;
  std::stop_source stop;
  auto options = cpu_options();
  options.on_event = [&, record = log.handler()](const Event& event) {
    record(event);
    if (event.kind == Event::Kind::started) stop.request_stop();
  };
  const auto failure = thrown_by([&] { load_model(ascii_model(), options, stop.get_token()); });
  CHECK(failure.code == errc::cancelled);
  CHECK(own_children() == 0);
  CHECK(log.count(Event::Kind::crashed) == 0);
}

TEST_CASE("a load that was cancelled before it began spawns nothing that stays") {
  std::stop_source stop;
  stop.request_stop();
  const auto failure =
      thrown_by([&] { load_model(ascii_model(), cpu_options(), stop.get_token()); });
  CHECK(failure.code == errc::cancelled);
  CHECK(own_children() == 0);
}

}  // namespace
}  // namespace llamavisor::contract
