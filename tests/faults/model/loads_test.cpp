// Loads: slow ones, stuck ones, old servers, and what a child is given at its start.
#include "fake_engine.hpp"
#include "fake_world.hpp"

#include <boost/json.hpp>

#include <unistd.h>

#include <algorithm>
#include <catch.hpp>
#include <fstream>
#include <stop_token>
#include <string>
#include <vector>

namespace llamavisor::faults {
namespace {

using namespace std::chrono_literals;
using Kind = Event::Kind;

/// A load that dies with these last words.
Failure dying_load(const std::string& how, const std::string& words) {
  const FakeWorld world("");
  world.write("words", words + "\n");
  world.set_script("die=" + how + " text_on_stderr=" + world.file("words").string());
  auto failure = thrown_by([&] { world.load(world.cpu()); });
  CHECK(world.started() == 1);
  CHECK(own_children() == 0);
  return failure;
}

TEST_CASE("a load that takes three limits but speaks now and then succeeds") {
  const FakeWorld world("load_ms=4500 load_chatter_ms=50");
  auto options = world.cpu();
  options.limits.load_silence = 1500ms;
  CHECK(world.load(options).state() == ModelState::ready);
}

TEST_CASE("a load that falls silent fails as stalled, and its server is gone") {
  const FakeWorld world("hold=loading:/nowhere/at/all");
  auto options = world.cpu();
  options.limits.load_silence = 300ms;
  const auto failure = thrown_by([&] { world.load(options); });
  CHECK(failure.code == errc::load_stalled);
  CHECK(failure.phase == Phase::load);
  CHECK(failure.cause == Cause::hung);
  CHECK(says(failure.message, "load_silence"));
  CHECK_FALSE(failure.last_lines.empty());
  CHECK(own_children() == 0);
}

TEST_CASE("a load behind many refusals is waited for") {
  const FakeWorld world("load_503s=20");
  CHECK(world.load(world.cpu()).state() == ModelState::ready);
}

TEST_CASE("servers of a year ago, with fewer flags and other log texts, serve as well") {
  const testing::TestFolder folder;
  const auto pack = testing::make_fake_pack(folder / "old", "cpu", "old_dialect");
  const FakeWorld world("");
  auto options = world.cpu();
  options.engine = pack;
  {
    const auto model = world.load(options);
    CHECK(model.generate("Hello", greedy(20)).result_or_throw().text ==
          unbroken("Hello", greedy(20)).text);
  }
  // Its error in the middle of a stream is spelt otherwise, and no success either.
  world.set_script("skip=1 completion_error_event=after:5");
  const auto model = world.load(options);
  const auto result = model.generate("Hello", greedy(20)).result();
  CHECK(result.finish_reason == FinishReason::error);
  REQUIRE(result.failure);
  CHECK(result.text.size() == 5);
}

TEST_CASE("a GPU engine and a CPU engine of different builds work together, with a warning") {
  const FakeWorld world("");
  const auto warned = [&](const LoadOptions& options) {
    world.load(options).close();
    const auto events = world.log().all();
    return std::any_of(events.begin(), events.end(), [](const Event& event) {
      return event.kind == Kind::warning && says(event.message, "build 7001") &&
             says(event.message, "build 11669");
    });
  };
  CHECK_FALSE(warned(world.gpu()));
  const auto description = world.file("cpu") / "engine.json";
  std::ifstream stream(description);
  std::string text((std::istreambuf_iterator<char>(stream)), {});
  const std::string_view build = R"("build":11669)";
  const auto at = text.find(build);
  REQUIRE(at != std::string::npos);
  std::ofstream(description) << text.replace(at, build.size(), R"("build":7001)");
  CHECK(warned(world.gpu()));
}

TEST_CASE("a child starts clean: environment, descriptors, signals, group, folder") {
  const ScopedVariable argument("LLAMA_ARG_PORT", "1");
  const ScopedVariable path("LD_LIBRARY_PATH", "/nowhere");
  const ScopedVariable own("LLAMAVISOR_TEST_PASSED_ON", "yes");
  const FakeWorld world("");
  auto options = world.cpu();
  options.environment.emplace_back("GGML_NO_BACKTRACE", "2");  // the host's word is the last
  const auto model = world.load(options);
  const auto start = world.story().events("start").at(0);
  std::vector<std::string> environment;
  for (const auto& entry : start.at("environment").as_array())
    environment.emplace_back(entry.as_string());
  const auto has = [&](const std::string& text) {
    return std::any_of(environment.begin(), environment.end(),
                       [&](const auto& entry) { return entry.starts_with(text); });
  };
  CHECK(has("GGML_NO_BACKTRACE=2"));
  CHECK(has("LLAMA_API_KEY="));
  CHECK(has("LLAMAVISOR_TEST_PASSED_ON=yes"));
  CHECK_FALSE(has("LLAMA_ARG_"));
  CHECK_FALSE(has("LD_LIBRARY_PATH"));
  CHECK(boost::json::serialize(start.at("descriptors")) == "[0,1,2]");
  CHECK(start.at("blocked_signals").as_array().empty());
  CHECK(start.at("ignored_signals").as_array().empty());
  CHECK(start.at("group") == start.at("pid"));
  CHECK(start.at("parent").to_number<pid_t>() == ::getpid());
  CHECK(says(std::string(start.at("folder").as_string()), "/cpu"));
}

TEST_CASE("a missing, a damaged and a foreign library are three causes, and the library is named") {
  const std::string begin = "llama-server: error while loading shared libraries: libllama.so: ";
  const auto missing =
      dying_load("before_listen:exit:127",
                 begin + "cannot open shared object file: No such file or directory");
  CHECK(missing.cause == Cause::missing_library);
  const auto damaged = dying_load("before_listen:exit:127", begin + "file too short");
  CHECK(damaged.cause == Cause::damaged_library);
  const auto foreign = dying_load("before_listen:exit:127", begin + "wrong ELF class: ELFCLASS32");
  CHECK(foreign.cause == Cause::wrong_architecture);
  for (const auto& failure : {missing, damaged, foreign}) {
    CHECK(failure.code == errc::engine_broken);
    CHECK(failure.exit_code == 127);
    CHECK(failure.phase == Phase::load);
    CHECK(says(failure.message, "libllama.so"));
    CHECK(says(failure.message, "tools/get-engine"));
  }
}

TEST_CASE("the telling line may stand far before the end, and the report has the last twenty") {
  std::string words =
      "rocBLAS error: Cannot read /opt/TensileLibrary.dat: No such file or directory for GPU arch "
      ": gfx1103";
  for (int file = 1; file <= 60; ++file)
    words += "\nfile " + std::to_string(file);
  const auto failure = dying_load("loading:signal:ABRT", words);
  CHECK(failure.cause == Cause::unsupported_gfx);
  CHECK(says(failure.message, "rocBLAS"));
  REQUIRE(failure.last_lines.size() == 20);
  CHECK(failure.last_lines.back() == "file 60");
}

TEST_CASE("an illegal instruction condemns the engine") {
  const auto failure = dying_load("loading:signal:ILL", "");
  CHECK(failure.code == errc::engine_broken);
  CHECK(failure.cause == Cause::illegal_instruction);
  CHECK(failure.signal == "SIGILL");
}

TEST_CASE("permanent errors are not tried again: one spawn, whatever the policy") {
  for (const std::string words :
       {"llama_model_load: error loading model: unknown model architecture: 'x'",
        "error: invalid argument: --what", "gguf_init_from_file: invalid magic characters: 'x'"}) {
    INFO(words);
    const FakeWorld world("");
    world.write("words", words + "\n");
    world.set_script("die=loading:exit:1 text_on_stderr=" + world.file("words").string());
    auto options = world.gpu();
    options.fallback = Fallback::to_cpu;
    options.same_rung_retries = 3;
    const auto failure = thrown_by([&] { world.load(options); });
    CHECK(failure.exit_code == 1);
    CHECK(failure.phase == Phase::load);
    CHECK(says(failure.last_lines.back(), words.substr(0, 20)));
    CHECK(world.started() == 1);
  }
}

TEST_CASE("a load that may fall back tries each rung once, and fails with both causes") {
  const FakeWorld world("die=loading:exit:9");
  auto options = world.gpu();
  options.fallback = Fallback::to_cpu;
  const auto failure = thrown_by([&] { world.load(options); });
  CHECK(failure.code == errc::load_failed);
  REQUIRE(failure.causes.size() == 2);
  CHECK(failure.causes[0].exit_code == 9);
  CHECK(world.started("gpu") == 1);
  CHECK(world.started("cpu") == 1);
}

TEST_CASE("a crash before the first word on a GPU is one of its initialisation") {
  const FakeWorld world("");
  // The fake speaks before it reaches any of its deaths, a shell script does not.
  const testing::TestFolder folder;
  const auto pack = testing::make_fake_pack(folder / "gpu", "vulkan");
  std::filesystem::remove(pack / "llama-server");
  std::ofstream(pack / "llama-server") << "#!/bin/sh\nkill -SEGV $$\n";
  std::filesystem::permissions(pack / "llama-server", std::filesystem::perms::owner_all);
  auto options = world.gpu();
  options.engine = pack;
  const auto failure = thrown_by([&] { world.load(options); });
  CHECK(failure.cause == Cause::crash_at_device_init);
  CHECK(failure.signal == "SIGSEGV");
  CHECK(world.log().comes_to(Kind::quarantined, 1));
}

TEST_CASE("our own stop during a load is no crash, and leaves nothing") {
  const FakeWorld world("hold=loading:/nowhere/at/all");
  std::stop_source stop;
  auto options = world.cpu();
  options.on_event = [&, record = world.log().handler()](const Event& event) {
    record(event);
    if (event.kind == Kind::started) stop.request_stop();
  };
  const auto failure =
      thrown_by([&] { load_model(world.model_file(), options, stop.get_token()); });
  CHECK(failure.code == errc::cancelled);
  CHECK(world.log().wait_for(Kind::stopped).generation == 1);
  CHECK(world.log().count(Kind::crashed) == 0);
  CHECK(own_children() == 0);
}

TEST_CASE("a hundred MiB on stderr, before ready and in a stream, stall nothing") {
  const auto expected = unbroken("Hello", greedy(20)).text;
  for (const std::string when : {"load", "stream"}) {
    INFO("while: " << when);
    const FakeWorld world("skip=1 flood_stderr=104857600@" + when);
    const auto model = world.load(world.cpu());
    CHECK(model.generate("Hello", greedy(20)).result_or_throw().text == expected);
    CHECK(world.started() == 1);
  }
}

TEST_CASE("a build without Unix sockets ends with an error that says what it could not bind") {
  const FakeWorld world("no_unix");
  const auto failure = thrown_by([&] { world.load(world.cpu()); });
  CHECK(failure.cause == Cause::address_in_use);
  CHECK(says(failure.message, "runtime_dir"));
}

TEST_CASE("fewer layers on the GPU than it has are told") {
  const FakeWorld world("offloaded=1/3");
  const auto model = world.load(world.gpu());
  CHECK(says(world.log().wait_for(Kind::warning).message, "1 of 3"));
  CHECK(model.info().gpu_layers == 1);
  CHECK(model.info().gpu_layers_total == 3);
}

TEST_CASE("a GPU load without a CPU engine is told, or refused where that is wanted") {
  const FakeWorld world("");
  const ScopedVariable only_gpu("LLAMAVISOR_ENGINE_PATH", world.file("gpu").string());
  const ScopedVariable no_data("XDG_DATA_HOME", world.file("nothing").string());
  {
    const auto model = world.load(world.gpu());
    CHECK(says(world.log().wait_for(Kind::no_cpu_engine).message, "tools/get-engine cpu"));
  }
  auto options = world.gpu();
  options.require_cpu_engine = true;
  CHECK(thrown_by([&] { world.load(options); }).code == errc::no_engine);
}

}  // namespace
}  // namespace llamavisor::faults
