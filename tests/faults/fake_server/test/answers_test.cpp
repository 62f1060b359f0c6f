// The fake says what the real server says, in the order in which that says it.
#include "catch.hpp"
#include "running_fake.hpp"

#include <boost/json.hpp>

#include <signal.h>

#include <cmath>
#include <future>
#include <string>
#include <vector>

using namespace llamavisor::testing;
namespace json = boost::json;

namespace {

std::vector<int> ids_of(const RawAnswer& answer) {
  std::vector<int> ids;
  const auto object = answer.json();
  for (const auto& id : object.at("tokens").as_array())
    ids.push_back(id.to_number<int>());
  return ids;
}

RawAnswer complete(const RunningFake& fake, json::object request) {
  request["return_tokens"] = true;
  request["temperature"] = 0;
  return fake.request("/completion", json::serialize(request));
}

std::vector<std::string> texts_of(const RawAnswer& answer) {
  std::vector<std::string> texts;
  for (const auto& event : answer.events)
    texts.emplace_back(event.at("content").as_string());
  return texts;
}

/// The whole text of an answer of n tokens.
std::string text_of(const RunningFake& fake, int tokens) {
  return std::string(complete(fake, {{"prompt", "hello"}, {"n_predict", tokens}})
                         .json()
                         .at("content")
                         .as_string());
}

}  // namespace

TEST_CASE("a prompt with the first ids of an answer goes on with the next", "[fake]") {
  const auto* const text = GENERATE("text=ascii", "text=utf8", "text=broken");
  RunningFake first(text), second(text);
  REQUIRE((first.wait_until_ready() && second.wait_until_ready()));
  json::array prompt{72, 105};
  const auto whole = ids_of(complete(first, {{"prompt", prompt}, {"n_predict", 40}}));
  REQUIRE(whole.size() == 40);
  for (std::size_t known = 0; known < whole.size(); ++known) {
    const auto rest =
        ids_of(complete(second, {{"prompt", prompt}, {"n_predict", 40 - static_cast<int>(known)}}));
    CHECK(rest ==
          std::vector<int>(whole.begin() + static_cast<std::ptrdiff_t>(known), whole.end()));
    prompt.emplace_back(whole[known]);
  }
}

TEST_CASE("an answer that is resumed ends where the whole one ends", "[fake]") {
  RunningFake fake("tokens=5");
  REQUIRE(fake.wait_until_ready());
  const std::string prompt = "<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n";
  const auto whole = complete(fake, {{"prompt", prompt}});
  CHECK(whole.json().at("stop_type") == "eos");
  auto text = std::string(whole.json().at("content").as_string());
  REQUIRE(text.size() == 5);
  const auto rest = complete(fake, {{"prompt", prompt + text.substr(0, 2)}});
  CHECK(rest.json().at("content").as_string() == text.substr(2));
}

TEST_CASE("characters are streamed whole, and the ids of their first bytes are lost", "[fake]") {
  RunningFake fake("text=utf8");
  REQUIRE(fake.wait_until_ready());
  const auto answer = complete(fake, {{"prompt", "hello"}, {"n_predict", 60}, {"stream", true}});
  REQUIRE(answer.complete);
  std::size_t streamed = 0;
  for (const auto& event : answer.events) {
    if (!event.at("stop").as_bool()) streamed += event.at("tokens").as_array().size();
    CHECK(event.at("content").as_string().find("\xEF\xBF\xBD") == json::string::npos);
  }
  CHECK(answer.events.back().at("tokens_predicted") == 60);
  CHECK(streamed < 60);
}

TEST_CASE("text that may begin a stop string is held back and then let go", "[fake]") {
  RunningFake fake;
  REQUIRE(fake.wait_until_ready());
  const auto text = text_of(fake, 4);
  const auto stop = text.substr(1, 2) + "\x01";
  const auto answer =
      complete(fake, {{"prompt", "hello"}, {"n_predict", 4}, {"stream", true}, {"stop", {stop}}});
  CHECK(texts_of(answer) ==
        std::vector<std::string>{text.substr(0, 1), "", "", text.substr(1, 3), ""});
}

TEST_CASE("text that is held back at the length limit is lost to the stream", "[fake]") {
  RunningFake fake;
  REQUIRE(fake.wait_until_ready());
  const auto text = text_of(fake, 3);
  const auto stop = text.substr(1, 2) + "\x01";
  const json::object request{{"prompt", "hello"}, {"n_predict", 3}, {"stop", {stop}}};
  CHECK(complete(fake, request).json().at("content").as_string() == text);
  auto streamed = request;
  streamed["stream"] = true;
  CHECK(texts_of(complete(fake, streamed)) ==
        std::vector<std::string>{text.substr(0, 1), "", "", ""});
}

TEST_CASE("a stop string ends the answer before it", "[fake]") {
  RunningFake fake;
  REQUIRE(fake.wait_until_ready());
  const auto text = text_of(fake, 6);
  const auto stop = text.substr(2, 3);
  const auto answer =
      complete(fake, {{"prompt", "hello"}, {"n_predict", 20}, {"stream", true}, {"stop", {stop}}});
  std::string streamed;
  for (const auto& part : texts_of(answer))
    streamed += part;
  CHECK(streamed == text.substr(0, 2));
  CHECK(answer.events.back().at("stop_type") == "word");
  CHECK(answer.events.back().at("stopping_word").as_string() == stop);
}

TEST_CASE("zero tokens are one, and the context's end is a limit", "[fake]") {
  RunningFake fake({}, {"-c", "64", "-np", "2"});
  REQUIRE(fake.wait_until_ready());
  CHECK(complete(fake, {{"prompt", "x"}, {"n_predict", 0}}).json().at("tokens_predicted") == 1);
  const auto full = complete(fake, {{"prompt", "x"}, {"n_predict", -1}}).json();
  CHECK(full.at("tokens_predicted") == 30);  // of 32, with the BOS token and the prompt
  CHECK(full.at("truncated") == true);
  CHECK(full.at("stop_type") == "limit");
  const auto refused = complete(fake, {{"prompt", std::string(32, 'x')}});
  CHECK(refused.status == 400);
  CHECK(refused.json().at("error").at("type") == "exceed_context_size_error");
  CHECK(refused.json().at("error").at("n_prompt_tokens") == 33);
  CHECK(refused.json().at("error").at("n_ctx") == 32);
}

TEST_CASE("a request waits while all slots are busy", "[fake]") {
  TestFolder folder;
  const auto go = folder / "go";
  RunningFake fake("hold=token:1:" + go.string(), {"-np", "1"});
  REQUIRE(fake.wait_until_ready());
  const auto ask = [&](int tokens) {
    return complete(fake, {{"prompt", "x"}, {"n_predict", tokens}}).json();
  };
  auto first = std::async(std::launch::async, ask, 2);
  REQUIRE(fake.story().wait_for("held").size() == 1);
  auto second = std::async(std::launch::async, ask, 3);
  REQUIRE(fake.story().wait_for("request", 2).size() == 2);
  CHECK(json::parse(fake.request("/slots").body).at(0).at("is_processing") == true);
  CHECK(fake.story().events("held").size() == 1);
  std::filesystem::create_directory(go);
  CHECK(first.get().at("tokens_predicted") == 2);
  CHECK(second.get().at("tokens_predicted") == 3);
}

TEST_CASE("a frozen compute loop answers /health and keep-alives, and neither /slots nor tokens",
          "[fake]") {
  RunningFake fake("freeze_compute=after:1 ping_ms=5");
  REQUIRE(fake.wait_until_ready());
  auto stream = std::async(std::launch::async, [&] {
    return complete(fake, {{"prompt", "x"}, {"n_predict", 9}, {"stream", true}});
  });
  REQUIRE(fake.story().wait_for("frozen").size() == 1);
  auto slots = std::async(std::launch::async, [&] { return fake.request("/slots"); });
  for (int count = 0; count < 20; ++count)
    CHECK(fake.request("/health").status == 200);
  CHECK(slots.wait_for(std::chrono::seconds(0)) == std::future_status::timeout);
  fake.send_signal(SIGKILL);
  CHECK(slots.get().status == 0);
  const auto answer = stream.get();
  CHECK_FALSE(answer.complete);
  CHECK(answer.events.size() == 1);
}

TEST_CASE("the log-probabilities of options are theirs alone", "[fake]") {
  RunningFake fake;
  REQUIRE(fake.wait_until_ready());
  const auto answer = fake.request(
      "/completion",
      R"({"prompt":"x","n_predict":1,"n_probs":2,"post_sampling_probs":true,"temperature":1,)"
      R"("top_k":2,"samplers":["top_k","temperature"],"logit_bias":[[65,100.0],[66,100.0]]})");
  const auto object = answer.json();
  const auto& top = object.at("completion_probabilities").at(0).at("top_probs").as_array();
  REQUIRE(top.size() == 2);
  CHECK(top[0].at("id").to_number<int>() + top[1].at("id").to_number<int>() == 65 + 66);
  const double sum = top[0].at("prob").as_double() + top[1].at("prob").as_double();
  CHECK(std::abs(sum - 1) < 1e-9);
}
