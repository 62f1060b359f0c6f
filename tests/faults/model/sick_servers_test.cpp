// Servers that live, and are ill: they lie, hang, or answer with errors.
#include "fake_world.hpp"

#include <boost/json.hpp>

#include <signal.h>

#include <catch.hpp>
#include <string>
#include <vector>

namespace llamavisor::faults {
namespace {

using namespace std::chrono_literals;
using Kind = Event::Kind;

TEST_CASE("a stranger in the server's place is never spoken to") {
  for (const std::string script : {"stranger", "wrong_alias"}) {
    INFO(script);
    const FakeWorld world(script);
    const auto failure = thrown_by([&] { world.load(world.cpu()); });
    CHECK(failure.code != errc::internal);
    CHECK(failure.phase == Phase::identity);
    CHECK(world.started() == 1);
    for (const auto& request : world.story().events("request"))
      CHECK(says("/health /props", std::string(request.at("path").as_string())));
    CHECK(world.story().completions().empty());
    CHECK(own_children() == 0);
  }
}

TEST_CASE("a server that says it is healthy and cannot compute is not ready") {
  const FakeWorld world("gpu:health=lying");
  SECTION("a named device is a typed error") {
    const auto failure = thrown_by([&] { world.load(world.gpu()); });
    CHECK(failure.code == errc::load_failed);
    CHECK(failure.phase == Phase::first_token);
    CHECK(failure.http_status == 500);
    CHECK(world.started() == 1);
  }
  SECTION("a load that may fall back does") {
    auto options = world.gpu();
    options.fallback = Fallback::to_cpu;
    const auto model = world.load(options);
    CHECK(model.info().device == "cpu");
    CHECK(model.generate("Hello", greedy(10)).result_or_throw().generated_tokens == 10);
    CHECK(world.log().comes_to(Kind::fell_back, 1));
  }
}

TEST_CASE("a server that cannot compute any more is found out, killed and replaced") {
  // After readiness and one answer every completion is a 500; SIGTERM is ignored.
  const FakeWorld world("gpu:completion_500=after:2 gpu:ignore_term");
  const auto model = world.load(world.gpu());
  CHECK(model.generate("first", greedy(10)).result_or_throw().device == "vulkan:0");
  const auto second = model.generate("second", greedy(10)).result_or_throw();
  CHECK(second.device == "cpu");
  CHECK(second.text == unbroken("second", greedy(10)).text);
  CHECK(own_servers().size() == 1);
  CHECK(world.started("gpu") == 1);
  CHECK(says(world.log().wait_for(Kind::crashed).failure->message, "500"));
}

TEST_CASE("an error of one request leaves a sound server alone") {
  const FakeWorld world("skip=1 completion_error_event=after:5");
  const auto model = world.load(world.cpu());
  const auto result = model.generate("Hello", greedy(20)).result();
  REQUIRE(result.failure);
  CHECK(result.failure->code == errc::server_error);
  CHECK(result.failure->partial_text.size() == 5);
  CHECK(says(result.failure->server_message, "Compute error"));
  CHECK(world.started() == 1);
  CHECK(world.log().count(Kind::crashed) == 0);
  CHECK(model.generate("Hello", greedy(3)).result_or_throw().generated_tokens == 3);
}

TEST_CASE("a stream that ends by a reset or without its final event is never a success") {
  for (const std::string script : {"skip=1 rst=after:5", "skip=1 end_without_final"}) {
    INFO(script);
    const FakeWorld world(script);
    const auto model = world.load(world.cpu());
    const auto result = model.generate("Hello", greedy(20)).result();
    CHECK(result.finish_reason == FinishReason::error);
    REQUIRE(result.failure);
    CHECK(result.failure->code == errc::server_error);
    CHECK_FALSE(result.failure->partial_text.empty());
    CHECK(model.state() == ModelState::ready);
    CHECK(each_sent_once_to_each(world.story()));
  }
}

TEST_CASE("a stream whose connection is never closed ends with its final event") {
  const FakeWorld world("skip=1 never_close");
  const auto model = world.load(world.cpu());
  CHECK(model.generate("Hello", greedy(20)).result_or_throw().generated_tokens == 20);
  CHECK(model.generate("Again", greedy(20)).result_or_throw().generated_tokens == 20);
}

TEST_CASE("an answer that is no event stream is a protocol error") {
  const FakeWorld world("skip=1 content_type=text/html");
  const auto model = world.load(world.cpu());
  const auto result = model.generate("Hello", greedy(20)).result();
  REQUIRE(result.failure);
  CHECK(result.failure->code == errc::protocol_error);
}

TEST_CASE("a stream that is cut at any place gives the same tokens") {
  const auto whole = unbroken("pieces", greedy(60), "text=utf8");
  for (const std::string cut :
       {"cut=every:1", "cut=every:2", "cut=every:3", "cut=every:7", "cut=1,5,6,100", "glue=5"}) {
    INFO(cut);
    const auto result = unbroken("pieces", greedy(60), "text=utf8 " + cut);
    CHECK(result.text == whole.text);
    CHECK(result.token_ids == whole.token_ids);
    CHECK(result.generated_tokens == whole.generated_tokens);
  }
}

TEST_CASE("a GPU whose compute thread freezes is quarantined, and the answer goes on on the CPU") {
  const FakeWorld world("skip=1 ping_ms=20 gpu:freeze_compute=after:7");
  auto options = world.gpu();
  options.limits = short_limits();
  const auto model = world.load(options);
  auto stream = model.generate("Hello", greedy(40));
  CHECK(join({}, stream) == unbroken("Hello", greedy(40)).text);
  CHECK(stream.result_or_throw().device == "cpu");
  const auto crash = world.log().wait_for(Kind::crashed);
  CHECK(crash.failure->code == errc::server_hung);
  CHECK(crash.failure->cause == Cause::hung);
  CHECK(world.log().comes_to(Kind::quarantined, 1));
  CHECK(thrown_by([&] { world.load(options); }).code == errc::device_quarantined);
  CHECK(world.started("gpu") == 1);
}

TEST_CASE("a hung server that the kernel keeps after SIGKILL is a hang all the same") {
  const FakeWorld world("skip=1 ping_ms=20 gpu:freeze_compute=after:7");
  auto options = world.gpu();
  options.limits = short_limits();
  options.limits.reap = 0ms;  // nearly always shorter than what the kernel needs
  const auto model = world.load(options);
  CHECK(model.generate("Hello", greedy(40)).result_or_throw().device == "cpu");
  CHECK(world.log().wait_for(Kind::crashed).failure->cause == Cause::hung);
  CHECK(world.log().comes_to(Kind::quarantined, 1));
}

TEST_CASE("a GPU that hangs inside a decode is found out, although /slots is answered meanwhile") {
  const FakeWorld world("skip=1 ping_ms=20 gpu:freeze_decode=after:7");
  auto options = world.gpu();
  options.limits = short_limits();
  options.limits.generation_hard = 0ms;
  const auto model = world.load(options);
  auto stream = model.generate("Hello", greedy(40));
  CHECK(join({}, stream) == unbroken("Hello", greedy(40)).text);
  CHECK(stream.result_or_throw().device == "cpu");
  CHECK(world.log().wait_for(Kind::crashed).failure->cause == Cause::hung);
}

TEST_CASE("an old server that hangs is found out, although it answers /lora-adapters meanwhile") {
  const FakeWorld world("skip=1 ping_ms=20 adapters=at_once gpu:freeze_compute=after:7");
  auto options = world.gpu();
  options.limits = short_limits();
  options.limits.generation_hard = 0ms;
  const auto model = world.load(options);
  CHECK(model.generate("Hello", greedy(40)).result_or_throw().device == "cpu");
  CHECK(world.log().wait_for(Kind::crashed).failure->cause == Cause::hung);
}

TEST_CASE("a decode that outlasts every limit but the hard one is left alone while it computes") {
  const FakeWorld world("skip=1 ping_ms=20 prompt_batch=400 decode_ms=1000 decode_computes");
  auto options = world.cpu();
  options.limits.prompt_soft = options.limits.probe = 200ms;
  const auto model = world.load(options);
  CHECK(model.generate(std::string(800, 'x'), greedy(10)).result_or_throw().generated_tokens == 10);
  CHECK(world.started() == 1);
}

TEST_CASE("a decode that outlasts the limits and uses no processor hangs") {
  const FakeWorld world("skip=1 ping_ms=20 gpu:decode_ms=600000");
  auto options = world.gpu();
  options.limits = short_limits();
  options.limits.prompt_soft = options.limits.probe = 200ms;
  const auto model = world.load(options);
  CHECK(model.generate("Hello", greedy(10)).result_or_throw().device == "cpu");
  CHECK(world.log().wait_for(Kind::crashed).failure->cause == Cause::hung);
}

TEST_CASE("a server that gives no token for ever hits the hard limit, whatever it answers") {
  const FakeWorld world("skip=1 ping_ms=20 gpu:no_tokens");
  auto options = world.gpu();
  options.limits = short_limits();
  options.limits.prompt_hard = 1500ms;
  const auto model = world.load(options);
  const auto result = model.generate("Hello", greedy(20)).result_or_throw();
  CHECK(result.device == "cpu");
  CHECK(result.text == unbroken("Hello", greedy(20)).text);
  CHECK(world.log().wait_for(Kind::crashed).failure->cause == Cause::hung);
}

TEST_CASE("a slow server that answers the probe is left alone") {
  // Each batch of the prompt takes longer than the soft limit.
  const FakeWorld world("skip=1 ping_ms=20 prompt_batch=400 prompt_delay_ms=700");
  auto options = world.cpu();
  options.limits.prompt_soft = 100ms;
  options.limits.probe = 60s;
  const auto model = world.load(options);
  const auto result = model.generate(std::string(1200, 'x'), greedy(10)).result_or_throw();
  CHECK(result.generated_tokens == 10);
  CHECK(world.started() == 1);
  CHECK(world.log().count(Kind::crashed) == 0);
}

TEST_CASE("a server whose health and slots are silent while tokens flow is left alone") {
  const FakeWorld world("skip=1 health_delay_ms=1500 slots_silent token_delay_us=20000");
  auto options = world.cpu();
  options.limits.generation_soft = options.limits.prompt_soft = options.limits.probe = 1s;
  const auto model = world.load(options);
  // For longer than both limits together.
  CHECK(model.generate("Hello", greedy(150)).result_or_throw().generated_tokens == 150);
  CHECK(world.started() == 1);
}

TEST_CASE("a device that fails hard is not tried a second time, not even by another model") {
  for (const std::string words :
       {"ROCm error: invalid device function", "CUDA error: device kernel image is invalid",
        "ggml_vulkan: ErrorDeviceLost"}) {
    INFO(words);
    const FakeWorld world("");
    world.write("words", words + "\n");
    const auto last_words = " gpu:text_on_stderr=" + world.file("words").string();
    world.set_script("skip=1 gpu:die=token:5:signal:ABRT" + last_words);
    auto options = world.gpu();
    options.same_rung_retries = 3;  // not for such a cause
    const auto model = world.load(options);
    CHECK(model.generate("Hello", greedy(20)).result_or_throw().device == "cpu");
    CHECK(world.started("gpu") == 1);
    CHECK(world.log().wait_for(Kind::quarantined).device == "vulkan:0");
    const auto refused = thrown_by([&] { world.load(options); });
    CHECK(refused.code == errc::device_quarantined);
    CHECK(says(refused.message, "doctor"));
    CHECK(world.started("gpu") == 1);
  }
}

TEST_CASE("a GPU that runs out of memory while it serves is not tried again with the same load") {
  const FakeWorld world("");
  world.write("words", "ggml_vulkan: Device memory allocation of size 1024 failed.\n");
  const auto last_words = " gpu:text_on_stderr=" + world.file("words").string();
  world.set_script("skip=1 gpu:die=token:5:exit:1" + last_words);
  auto options = world.gpu();
  options.same_rung_retries = 3;
  const auto model = world.load(options);
  CHECK(model.generate("Hello", greedy(20)).result_or_throw().device == "cpu");
  CHECK(world.started("gpu") == 1);
  CHECK(world.log().count(Kind::quarantined) == 0);
  CHECK(world.log().wait_for(Kind::crashed).failure->cause == Cause::out_of_memory);
}

TEST_CASE("a host may have the same device tried again first") {
  const FakeWorld world("skip=1 gpu1:die=token:5:signal:SEGV");
  auto options = world.gpu();
  options.same_rung_retries = 1;
  const auto model = world.load(options);
  CHECK(model.generate("Hello", greedy(20)).result_or_throw().device == "vulkan:0");
  CHECK(world.started("gpu") == 2);
  CHECK(world.started("cpu") == 0);
}

TEST_CASE("a better device is tried again after a while, and requests go back to it") {
  const FakeWorld world("skip=1 gpu1:die=token:5:signal:SEGV");
  auto options = world.gpu();
  options.recovery.cool_down = 20ms;
  const auto model = world.load(options);
  CHECK(model.generate("Hello", greedy(20)).result_or_throw().device == "cpu");
  const auto promoted = world.log().wait_for(Kind::promoted);
  CHECK(promoted.from == "cpu");
  CHECK(promoted.to == "vulkan:0");
  CHECK(model.generate("Hello", greedy(3)).result_or_throw().device == "vulkan:0");
  wait_until("the CPU server is gone", [] { return own_servers().size() == 1; });
}

}  // namespace
}  // namespace llamavisor::faults
