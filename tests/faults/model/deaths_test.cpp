// Servers that die: what becomes of the answers, on which server, and what the host is told.
#include "fake_world.hpp"

#include <boost/json.hpp>

#include <signal.h>

#include <catch.hpp>
#include <map>
#include <string>
#include <vector>

namespace llamavisor::faults {
namespace {

using Kind = Event::Kind;

TEST_CASE("an answer outlives the death of the GPU process after any number of tokens") {
  const auto whole = unbroken("Hello", greedy(24));
  for (int tokens = 1; tokens < 24; ++tokens) {
    INFO("dies after " << tokens << " of 24 tokens");
    const FakeWorld world("skip=1 gpu:die=token:" + std::to_string(tokens) + ":signal:KILL");
    const auto model = world.load(world.gpu());
    auto stream = model.generate("Hello", greedy(24));
    CHECK(join({}, stream) == whole.text);
    const auto& result = stream.result_or_throw();
    CHECK(result.token_ids == whole.token_ids);
    CHECK(result.generated_tokens == 24);
    CHECK(result.finish_reason == FinishReason::length);
    CHECK(result.device == "cpu");
    REQUIRE(result.resumes.size() == 1);
    CHECK(result.resumes[0].way == ResumeWay::by_ids);
    CHECK(result.resumes[0].text_bytes == static_cast<std::size_t>(tokens));
    CHECK(result.exact);
    CHECK(world.started("gpu") == 1);
    CHECK(world.started("cpu") == 1);
    REQUIRE(world.log().comes_to(Kind::fell_back, 1));
    const auto fell_back = world.log().wait_for(Kind::fell_back);
    CHECK(fell_back.from == "vulkan:0");
    CHECK(fell_back.to == "cpu");
    CHECK(fell_back.failure->signal == "SIGKILL");
    CHECK(fell_back.failure->phase == Phase::generation);
    CHECK(each_sent_once_to_each(world.story()));
    // What is left of max_tokens, and no more, is asked of the second.
    const auto asked = world.story().completions(2);
    REQUIRE(asked.size() == 2);  // its first token, for readiness, and this
    CHECK(asked.back().at("n_predict").to_number<int>() == 24 - tokens);
  }
}

TEST_CASE("an answer that lacks only its last event is whole, and asks no other server") {
  const auto whole = unbroken("Hello", greedy(24));
  const FakeWorld world("skip=1 gpu:die=token:24:signal:KILL");
  const auto model = world.load(world.gpu());
  const auto result = model.generate("Hello", greedy(24)).result_or_throw();
  CHECK(result.text == whole.text);
  CHECK(result.token_ids == whole.token_ids);
  CHECK(result.finish_reason == FinishReason::length);
  CHECK(result.device == "vulkan:0");
  CHECK(result.generations == 1);
  CHECK(world.story().completions(2).size() == 1);
}

TEST_CASE("an answer outlives thirty deaths, each a token later, whatever its text") {
  for (const std::string text : {"ascii", "utf8", "broken"}) {
    INFO("text: " << text);
    const auto whole = unbroken("Hello", greedy(300), "text=" + text);
    std::string script = "skip=1 text=" + text;
    for (int death = 1; death <= 30; ++death) {
      const auto number = std::to_string(death);
      script += " g" + number + ":die=token:" + number + ":signal:KILL";
    }
    const FakeWorld world(script);
    auto options = world.cpu();
    options.recovery.restarts = 100;
    const auto model = world.load(options);
    auto stream = model.generate("Hello", greedy(300));
    CHECK(join({}, stream) == whole.text);
    CHECK(stream.result_or_throw().generated_tokens == 300);
    CHECK(stream.result().generations >= 20);
    if (text == "ascii") CHECK(stream.result().token_ids == whole.token_ids);
    CHECK(each_sent_once_to_each(world.story()));
  }
}

TEST_CASE("a death in the middle of a character neither doubles nor loses one") {
  const auto whole = unbroken("characters", greedy(40), "text=utf8");
  bool inside = false;
  for (int tokens = 1; tokens < 40; ++tokens) {
    INFO("dies after " << tokens << " of 40 tokens");
    const auto die = " cpu1:die=token:" + std::to_string(tokens) + ":signal:SEGV";
    const FakeWorld world("skip=1 text=utf8" + die);
    const auto model = world.load(world.cpu());
    auto stream = model.generate("characters", greedy(40));
    CHECK(join({}, stream) == whole.text);
    CHECK(stream.result_or_throw().generated_tokens == 40);
    CHECK(says(stream.result().text, "\xEF\xBF\xBD") == says(whole.text, "\xEF\xBF\xBD"));
    inside = inside || stream.result().resumes.at(0).way != ResumeWay::by_ids;
  }
  CHECK(inside);
}

TEST_CASE("a regeneration that another device continues otherwise goes on by text") {
  // The CPU has another voice: it cannot repeat what the GPU said.
  const FakeWorld world("skip=1 text=utf8 gpu:die=token:30:signal:KILL cpu:voice=7");
  const auto model = world.load(world.gpu());
  auto stream = model.generate("voices", greedy(60));
  const auto text = join({}, stream);
  const auto& result = stream.result_or_throw();
  CHECK(text == result.text);
  REQUIRE(result.resumes.size() == 1);
  const auto on_gpu = unbroken("voices", greedy(60), "text=utf8").text;
  CHECK(text.substr(0, result.resumes[0].text_bytes) ==
        on_gpu.substr(0, result.resumes[0].text_bytes));
  CHECK(result.resumes[0].text_bytes > 0);
  CHECK(result.exact == (result.resumes[0].way == ResumeWay::by_ids));
}

TEST_CASE("eight requests at once and one death: one replacement, eight whole answers") {
  std::vector<std::string> prompts, expected;
  for (int number = 0; number < 8; ++number) {
    prompts.push_back("request number " + std::to_string(number));
    expected.push_back(unbroken(prompts.back(), greedy(60)).text);
  }
  const FakeWorld world("skip=1 token_delay_us=500 gpu:die=token:30:signal:KILL");
  auto options = world.gpu();
  options.parallel = 8;
  const auto model = world.load(options);
  const auto results = model.generate_batch(prompts, greedy(60));
  REQUIRE(results.size() == 8);
  for (std::size_t at = 0; at < 8; ++at) {
    CHECK_FALSE(results[at].failure);
    CHECK(results[at].text == expected[at]);
    CHECK(results[at].generations == 2);
  }
  CHECK(world.started() == 2);
  CHECK(world.log().comes_to(Kind::crashed, 1));
  CHECK(world.log().comes_to(Kind::fell_back, 1));
  CHECK(each_sent_once_to_each(world.story()));
}

TEST_CASE("a stop string that the seam cuts in two is seen") {
  const auto whole = unbroken("seam", greedy(80)).text;
  const auto stop = whole.substr(30, 10);
  const auto expected = whole.substr(0, whole.find(stop));
  auto options = greedy(80);
  options.stop = {stop};
  for (int tokens = 28; tokens <= 40; ++tokens) {
    INFO("dies after " << tokens << " tokens; the stop string is at 30 to 40");
    const auto number = std::to_string(tokens);
    const FakeWorld world("skip=1 gpu:die=token:" + number + ":signal:KILL");
    const auto model = world.load(world.gpu());
    auto stream = model.generate("seam", options);
    CHECK(join({}, stream) == expected);
    CHECK(stream.result_or_throw().finish_reason == FinishReason::stop_string);
    CHECK(stream.result().stop_string == stop);
  }
}

TEST_CASE("a text that only begins like a stop string is delivered whole across the seam") {
  const auto whole = unbroken("seam", greedy(80)).text;
  auto options = greedy(80);
  options.stop = {whole.substr(30, 10) + "\x01"};
  for (int tokens = 29; tokens <= 42; ++tokens) {
    INFO("dies after " << tokens << " tokens");
    const auto number = std::to_string(tokens);
    const FakeWorld world("skip=1 gpu:die=token:" + number + ":signal:KILL");
    const auto model = world.load(world.gpu());
    auto stream = model.generate("seam", options);
    CHECK(join({}, stream) == whole);
    CHECK(stream.result_or_throw().generated_tokens == 80);
  }
}

TEST_CASE("the seed of a sampled answer that goes on is a new one, and told in the guide") {
  GenerateOptions options{.max_tokens = 40, .temperature = 1, .seed = 1000, .ignore_eos = true};
  const FakeWorld world("skip=1 sampling gpu:die=token:10:signal:KILL");
  const auto model = world.load(world.gpu());
  const auto result = model.generate("random", options).result_or_throw();
  CHECK(result.generated_tokens == 40);
  const auto first = world.story().completions(1).back(),
             second = world.story().completions(2).back();
  CHECK(first.at("seed").to_number<std::uint32_t>() == 1000);
  CHECK(second.at("seed").to_number<std::uint32_t>() == 1000 + 0x9E3779B9U);
  CHECK(second.at("n_predict").to_number<int>() == 30);
}

TEST_CASE("with Fallback::never the death of a GPU process is a typed error, and no CPU process") {
  const FakeWorld world("skip=1 gpu:die=token:10:signal:KILL");
  auto options = world.gpu();
  options.fallback = Fallback::never;
  const auto model = world.load(options);
  const auto result = model.generate("Hello", greedy(40)).result();
  REQUIRE(result.failure);
  CHECK(result.failure->code == errc::server_died);
  CHECK(result.failure->partial_text == unbroken("Hello", greedy(40)).text.substr(0, 10));
  CHECK(model.state() == ModelState::failed);
  CHECK(thrown_by([&] { model.tokenize("a"); }).code == errc::not_ready);
  CHECK(own_children() == 0);
  CHECK(world.started() == 1);
  model.reload();
  CHECK(world.started("gpu") == 2);
  CHECK(world.started("cpu") == 0);
}

TEST_CASE("a server that dies at each first token is started a bounded number of times") {
  const FakeWorld world("skip=1 die=token:1:signal:KILL");
  auto options = world.cpu();
  options.recovery.restarts = 3;
  const auto model = world.load(options);
  const auto result = model.generate("Hello", greedy(40)).result();
  REQUIRE(result.failure);
  CHECK(result.failure->code == errc::server_died);
  CHECK(result.failure->causes.size() == 4);
  for (const auto& cause : result.failure->causes) {
    CHECK(cause.signal == "SIGKILL");
    CHECK(cause.cause == Cause::killed_from_outside);
  }
  CHECK(result.failure->partial_text.size() == 4);  // a token of each
  CHECK(says(result.failure->message, "reload()"));
  CHECK(world.started() == 4);
  CHECK(world.log().wait_for(Kind::failed).failure->causes.size() == 4);
  CHECK(own_children() == 0);
}

TEST_CASE("the first restart comes at once, and the next ones after delays that double") {
  const FakeWorld world("skip=1 die=token:1:signal:KILL");
  auto options = world.cpu();
  options.recovery.restarts = 5;
  options.recovery.first_delay = std::chrono::milliseconds(4);
  options.recovery.longest_delay = std::chrono::milliseconds(16);
  const auto model = world.load(options);
  CHECK(model.generate("Hello", greedy(40)).result().failure);
  world.log().wait_for(Kind::failed);
  std::vector<std::string> delays;
  for (const auto& event : world.log().of(Kind::restarting))
    delays.push_back(event.message.substr(event.message.rfind(" in ")));
  CHECK(delays ==
        std::vector<std::string>{" in 0 ms", " in 4 ms", " in 8 ms", " in 16 ms", " in 16 ms"});
}

TEST_CASE("a death while idle or while a prompt is read loses nothing, and says its phase") {
  const auto whole = unbroken("Hello", greedy(30)).text;
  SECTION("idle") {
    const FakeWorld world("cpu1:die=idle:30:signal:ABRT");
    const auto model = world.load(world.cpu());
    const auto crash = world.log().wait_for(Kind::crashed);
    CHECK(crash.failure->phase == Phase::idle);
    CHECK(crash.failure->signal == "SIGABRT");
    CHECK(model.generate("Hello", greedy(30)).result_or_throw().text == whole);
  }
  SECTION("prompt") {
    const FakeWorld world("skip=1 cpu1:die=prompt:exit:3");
    const auto model = world.load(world.cpu());
    const auto result = model.generate("Hello", greedy(30)).result_or_throw();
    CHECK(result.text == whole);
    REQUIRE(result.resumes.size() == 1);
    CHECK(result.resumes[0].way == ResumeWay::replayed);
    const auto crash = world.log().wait_for(Kind::crashed);
    CHECK(crash.failure->phase == Phase::prompt);
    CHECK(crash.failure->exit_code == 3);
  }
  SECTION("after the last event") {
    const FakeWorld world("skip=1 cpu1:die=after_last_event:signal:SEGV");
    const auto model = world.load(world.cpu());
    auto stream = model.generate("Hello", greedy(30));
    CHECK(join({}, stream) == whole);
    CHECK(stream.result_or_throw().generated_tokens == 30);
  }
}

TEST_CASE("the events of a failover come in order, numbered by generation") {
  const FakeWorld world("skip=1 gpu:die=token:10:signal:KILL");
  {
    const auto model = world.load(world.gpu());
    model.generate("Hello", greedy(40)).result_or_throw();
    model.close();
  }
  world.log().wait_for(Kind::stopped);
  auto events = world.log().all();
  std::erase_if(events, [](const Event& event) { return event.kind == Kind::loading; });
  std::vector<std::pair<Kind, int>> seen;
  for (const auto& event : events)
    seen.emplace_back(event.kind, event.generation);
  CHECK(seen == std::vector<std::pair<Kind, int>>{{Kind::started, 1},
                                                  {Kind::ready, 1},
                                                  {Kind::crashed, 1},
                                                  {Kind::started, 2},
                                                  {Kind::ready, 2},
                                                  {Kind::fell_back, 2},
                                                  {Kind::stopped, 2}});
}

TEST_CASE("close in the middle of a failover leaves nothing, and nothing comes back to life") {
  const FakeWorld world("skip=1 gpu:die=token:10:signal:KILL cpu:load_ms=60000");
  const auto model = world.load(world.gpu());
  auto stream = model.generate("Hello", greedy(40));
  world.log().wait_for(Kind::started, 2);
  CHECK(model.state() == ModelState::recovering);
  model.close();
  CHECK(own_children() == 0);
  REQUIRE(stream.result().failure);
  CHECK(stream.result().failure->code == errc::closed);
  CHECK(stream.result().failure->partial_text.size() == 10);
  CHECK(world.log().comes_to(Kind::started, 2));
}

}  // namespace
}  // namespace llamavisor::faults
