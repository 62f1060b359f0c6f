// Each fault of the script happens, at its moment, and the story tells of it.
#include "catch.hpp"
#include "running_fake.hpp"

#include <signal.h>

#include <fstream>
#include <iterator>
#include <string>

using namespace llamavisor::testing;

namespace {

constexpr auto five_tokens =
    R"({"prompt":"hello","n_predict":5,"temperature":0,"stream":true,"return_progress":true})";

std::size_t tokens_in(const RawAnswer& answer) {
  std::size_t count = 0;
  for (const auto& event : answer.events) {
    if (!event.contains("prompt_progress") && !event.at("stop").as_bool()) ++count;
  }
  return count;
}

bool has_final(const RawAnswer& answer) {
  return !answer.events.empty() && answer.events.back().contains("stop") &&
         answer.events.back().at("stop").as_bool();
}

}  // namespace

TEST_CASE("the fake dies after exactly as many tokens as it was told", "[fake]") {
  const int tokens = GENERATE(0, 1, 3, 5);
  RunningFake fake("die=token:" + std::to_string(tokens) + ":signal:SIGSEGV");
  REQUIRE(fake.wait_until_ready());
  const auto answer = fake.request("/completion", five_tokens);
  CHECK(fake.wait_for_end() == -SIGSEGV);
  CHECK(tokens_in(answer) == static_cast<std::size_t>(tokens));
  CHECK_FALSE(answer.complete);
  CHECK_FALSE(has_final(answer));
  CHECK(fake.story().completions().size() == 1);
  CHECK(fake.story().events("death").at(0).at("signal") == SIGSEGV);
}

TEST_CASE("a death after the last event leaves the stream without its end", "[fake]") {
  RunningFake fake("die=after_last_event:exit:3");
  REQUIRE(fake.wait_until_ready());
  const auto answer = fake.request("/completion", five_tokens);
  CHECK(has_final(answer));
  CHECK_FALSE(answer.complete);
  CHECK(fake.wait_for_end() == 3);
}

TEST_CASE("a death while the prompt is read comes after the first progress", "[fake]") {
  RunningFake fake("die=prompt:signal:ABRT");
  REQUIRE(fake.wait_until_ready());
  const auto answer = fake.request("/completion", five_tokens);
  CHECK(fake.wait_for_end() == -SIGABRT);
  REQUIRE(answer.events.size() == 1);
  CHECK(answer.events[0].contains("prompt_progress"));
}

TEST_CASE("deaths before service need no request", "[fake]") {
  const auto* const moment = GENERATE("before_listen", "loading", "idle:1");
  RunningFake fake("die=" + std::string(moment) + ":exit:42");
  CHECK(fake.wait_for_end() == 42);
}

TEST_CASE("the last words are on stderr before the death", "[fake]") {
  TestFolder folder("with spaces");
  std::ofstream(folder / "words") << "first line\nROCm error: out of memory\n";
  auto name = (folder / "words").string();
  for (std::size_t at = 0; (at = name.find(' ', at)) != std::string::npos;) {
    name.replace(at, 1, "%20");
  }
  RunningFake fake("text_on_stderr=" + name + " die=loading:exit:1");
  CHECK(fake.wait_for_end() == 1);
  std::ifstream file(fake.folder() / "stderr");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  CHECK(text.ends_with("first line\nROCm error: out of memory\n"));
}

TEST_CASE("streams that end wrongly end as they were told", "[fake]") {
  SECTION("a clean end without the final event") {
    RunningFake fake("end_without_final");
    REQUIRE(fake.wait_until_ready());
    const auto answer = fake.request("/completion", five_tokens);
    CHECK(answer.complete);
    CHECK(tokens_in(answer) == 5);
    CHECK_FALSE(has_final(answer));
  }
  SECTION("an error event and a clean end") {
    RunningFake fake("completion_error_event=after:2");
    REQUIRE(fake.wait_until_ready());
    const auto answer = fake.request("/completion", five_tokens);
    CHECK(answer.complete);
    CHECK(answer.events.back().at("error").at("message") == "Compute error.");
  }
  SECTION("the old dialect's error line") {
    RunningFake fake("completion_error_event=after:2 old_dialect");
    REQUIRE(fake.wait_until_ready());
    const auto answer = fake.request("/completion", five_tokens);
    CHECK(answer.complete);
    CHECK(answer.body.ends_with(
        "error: {\"code\":500,\"message\":\"Compute error.\",\"type\":\"server_error\"}\n\n"));
  }
  SECTION("a reset") {
    RunningFake fake("rst=after:2");
    REQUIRE(fake.wait_until_ready());
    const auto answer = fake.request("/completion", five_tokens);
    CHECK(answer.reset);
    CHECK(tokens_in(answer) == 2);
  }
}

TEST_CASE("SIGTERM ends the fake by the signal while loading, with code 0 when ready", "[fake]") {
  SECTION("loading") {
    RunningFake fake("load_ms=600000");
    REQUIRE(fake.story().wait_for("start").size() == 1);
    REQUIRE(wait_until([&] { return fake.request("/health").status == 503; }));
    fake.send_signal(SIGTERM);
    CHECK(fake.wait_for_end() == -SIGTERM);
  }
  SECTION("ready") {
    RunningFake fake;
    REQUIRE(fake.wait_until_ready());
    fake.send_signal(SIGTERM);
    CHECK(fake.wait_for_end() == 0);
    CHECK(fake.story().events("term").size() == 1);
  }
}

TEST_CASE("a taken socket is refused", "[fake]") {
  RunningFake first;
  REQUIRE(first.wait_until_ready());
  RunningFake second({}, {"--host", first.socket().string()});
  CHECK(second.wait_for_end() == 1);
}

TEST_CASE("a load lasts until it was asked for often enough", "[fake]") {
  RunningFake fake("load_503s=3");
  int refused = 0;
  REQUIRE(wait_until([&] {
    const int status = fake.request("/health").status;
    refused += status == 503;
    return status == 200;
  }));
  CHECK(refused >= 3);
}
