#include "server/completion_request.hpp"

#include <llamavisor/error.hpp>

#include "catch.hpp"
#include "unit/expect.hpp"

#include <boost/json.hpp>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

using namespace llamavisor;
using namespace llamavisor::server;
using llamavisor::test::near;
using llamavisor::test::says;
using llamavisor::test::thrown_by;

namespace json = boost::json;

namespace {

const std::vector<TokenId> prompt{331, 104, 105};

json::value asked(const GenerateOptions& options) {
  return json::parse(ask_completion(prompt, options).body);
}

}  // namespace

TEST_CASE("completion: with defaults it asks for nothing but ids, progress and tokens",
          "[server]") {
  const auto call = ask_completion(prompt, {});
  CHECK(call.method == "POST");
  CHECK(call.target == "/completion");
  CHECK(call.body == R"({"prompt":[331,104,105],"n_predict":-1,"stream":true,"return_tokens":true,)"
                     R"("return_progress":true,"cache_prompt":true})");
}

TEST_CASE("completion: no limit is sent as -1, since to the server 0 is one token", "[server]") {
  CHECK(asked({.max_tokens = 0}).at("n_predict") == -1);
  CHECK(asked({.max_tokens = 1}).at("n_predict") == 1);
}

TEST_CASE("completion: every option that is set is sent under the server's name", "[server]") {
  const GenerateOptions options{.max_tokens = 7,
                                .temperature = 0.5,
                                .top_k = 3,
                                .top_p = 0.25,
                                .min_p = 0.125,
                                .seed = 4294967294U,
                                .repeat_penalty = 2.0,
                                .stop = {"\n\n", "</s>"},
                                .stop_tokens = {5},
                                .logprobs = 2,
                                .json_schema = R"({"type":"object"})",
                                .cache_prompt = false,
                                .special_tokens_in_text = true,
                                .deadline = std::chrono::seconds(3)};
  check_options(options);
  const json::value expected = json::object{{"prompt", json::array{331, 104, 105}},
                                            {"n_predict", 7},
                                            {"stream", true},
                                            {"return_tokens", true},
                                            {"return_progress", true},
                                            {"cache_prompt", false},
                                            {"temperature", 0.5},
                                            {"top_k", 3},
                                            {"top_p", 0.25},
                                            {"min_p", 0.125},
                                            {"seed", 4294967294U},
                                            {"repeat_penalty", 2.0},
                                            {"stop", json::array{"\n\n", "</s>"}},
                                            {"n_probs", 2},
                                            {"json_schema", json::object{{"type", "object"}}}};
  CHECK(asked(options) == expected);
}

TEST_CASE("completion: a grammar and ignore_eos are sent where they are asked for", "[server]") {
  CHECK(asked({.grammar = "root ::= \"a\""}).at("grammar") == "root ::= \"a\"");
  CHECK(asked({.ignore_eos = true}).at("ignore_eos") == true);
}

TEST_CASE("completion: zero is sent where zero means something, unset is left out", "[server]") {
  const auto body = asked({.temperature = 0, .top_k = 0, .min_p = 0, .seed = 0});
  for (const char* name : {"temperature", "top_k", "min_p", "seed"}) {
    CAPTURE(name);
    CHECK(body.at(name).to_number<double>() == 0);
  }
}

TEST_CASE("first token: the proof is greedy, alone, uncached, and no end can stop it", "[server]") {
  const auto call = ask_first_token();
  CHECK(call.method == "POST");
  CHECK(call.target == "/completion");
  CHECK(call.body == R"({"prompt":"a","n_predict":1,"stream":false,"return_tokens":true,)"
                     R"("cache_prompt":false,"ignore_eos":true,"samplers":["top_k"],"top_k":1})");
}

TEST_CASE("first token: only a generated token proves anything", "[server]") {
  CHECK_NOTHROW(check_first_token(R"({"content":"","tokens_predicted":1})"));
  for (const char* body :
       {"", "{}", "[]", R"({"tokens_predicted":0})", R"({"tokens_predicted":"1"})", "<html>"}) {
    CAPTURE(body);
    CHECK(thrown_by([&] { check_first_token(body); }).code == errc::protocol_error);
  }
}

TEST_CASE("best tokens: asked of the whole vocabulary, with a whole character as the sample",
          "[server]") {
  const auto body = json::parse(ask_best_tokens(prompt, 5, 97).body);
  const json::value expected = json::object{{"prompt", json::array{331, 104, 105}},
                                            {"n_predict", 1},
                                            {"stream", false},
                                            {"n_probs", 5},
                                            {"logit_bias", json::array{json::array{97, 100.0}}},
                                            {"temperature", 0}};
  CHECK(body == expected);
}

TEST_CASE("best tokens: read in the server's order", "[server]") {
  const auto result = parse_best_tokens(
      R"({"tokens_evaluated":3,"completion_probabilities":[{"id":97,"top_logprobs":[)"
      R"({"id":305,"token":" you","logprob":-0.5},{"id":241,"token":"","logprob":-2}]}]})");
  CHECK(result.prompt_tokens == 3);
  REQUIRE(result.candidates.size() == 2);
  CHECK(result.candidates[0].id == 305);
  CHECK(result.candidates[0].text == " you");
  CHECK(result.candidates[0].logprob == -0.5);
  CHECK(result.candidates[1].id == 241);
  CHECK(result.candidates[1].text.empty());
  CHECK(result.candidates[1].logprob == -2);
}

TEST_CASE("best tokens: an answer without probabilities is a protocol error", "[server]") {
  for (const char* body :
       {"", "{}", R"({"completion_probabilities":[]})", R"({"completion_probabilities":7})",
        R"({"completion_probabilities":[{}]})",
        R"({"completion_probabilities":[{"top_logprobs":{}}]})"}) {
    CAPTURE(body);
    CHECK(thrown_by([&] { parse_best_tokens(body); }).code == errc::protocol_error);
  }
}

TEST_CASE("option scores: all options get one bias, and nobody else gets in", "[server]") {
  const std::vector<TokenId> ids{40, 41, 42};
  const auto body = json::parse(ask_option_scores(prompt, ids).body);
  const json::value expected = json::object{
      {"prompt", json::array{331, 104, 105}},
      {"n_predict", 1},
      {"stream", false},
      {"n_probs", 3},
      {"post_sampling_probs", true},
      {"logit_bias",
       json::array{json::array{40, 100.0}, json::array{41, 100.0}, json::array{42, 100.0}}},
      {"samplers", json::array{"top_k", "temperature"}},
      {"top_k", 3},
      {"temperature", 1.0}};
  CHECK(body == expected);
}

TEST_CASE("option scores: come in the order asked for, as log-probabilities among themselves",
          "[server]") {
  const std::vector<TokenId> ids{40, 41};
  const auto scores = parse_option_scores(
      R"({"tokens_evaluated":9,"completion_probabilities":[{"top_probs":[)"
      R"({"id":41,"token":"B","prob":0.75},{"id":40,"token":"A","prob":0.25}]}]})",
      ids);
  REQUIRE(scores);
  CHECK(scores->prompt_tokens == 9);
  REQUIRE(scores->candidates.size() == 2);
  CHECK(scores->candidates[0].id == 40);
  CHECK(scores->candidates[0].text == "A");
  CHECK(near(scores->candidates[0].logprob, std::log(0.25)));
  CHECK(scores->candidates[1].id == 41);
  CHECK(near(scores->candidates[1].logprob, std::log(0.75)));
}

TEST_CASE("option scores: none where the server told none", "[server]") {
  const std::vector<TokenId> ids{40, 41};
  CHECK_FALSE(parse_option_scores(R"({"content":""})", ids));
  CHECK_FALSE(parse_option_scores(R"({"completion_probabilities":[]})", ids));
}

TEST_CASE("option scores: an answer that cannot be is a protocol error", "[server]") {
  const std::vector<TokenId> ids{40, 41};
  for (
      const char* body : {
          "",
          R"({"completion_probabilities":[{"top_logprobs":[]}]})",
          R"({"completion_probabilities":[{"top_probs":[{"id":40,"prob":0},{"id":41,"prob":0}]}]})",
          R"({"completion_probabilities":[{"top_probs":[{"id":40},{"id":41}]}]})",
      }) {
    CAPTURE(body);
    CHECK(thrown_by([&] { parse_option_scores(body, ids); }).code == errc::protocol_error);
  }
}

TEST_CASE("among: scores add up to one, however small they were", "[server]") {
  const Classification all{.candidates = {{.id = 1, .logprob = -2000},
                                          {.id = 2, .logprob = -1},
                                          {.id = 3, .logprob = -2001}},
                           .prompt_tokens = 5};
  const std::vector<TokenId> ids{3, 1};
  const auto result = among(all, ids);
  CHECK(result.prompt_tokens == 5);
  REQUIRE(result.candidates.size() == 2);
  CHECK(result.candidates[0].id == 3);
  CHECK(result.candidates[1].id == 1);
  CHECK(near(std::exp(result.candidates[0].logprob) + std::exp(result.candidates[1].logprob), 1));
  CHECK(near(result.candidates[1].logprob - result.candidates[0].logprob, 1));
}

TEST_CASE("among: an option without any probability is minus infinity, never NaN", "[server]") {
  const double never = -std::numeric_limits<double>::infinity();
  const Classification all{.candidates = {{.id = 1, .logprob = never}, {.id = 2, .logprob = -7}}};
  const std::vector<TokenId> ids{1, 2};
  const auto result = among(all, ids);
  CHECK(result.candidates[0].logprob == never);
  CHECK(result.candidates[1].logprob == 0);
}

TEST_CASE("among: an id that the model does not have is named", "[server]") {
  const Classification all{.candidates = {{.id = 1, .logprob = -1}}};
  const std::vector<TokenId> ids{1, 999999};
  const auto failure = thrown_by([&] { among(all, ids); });
  CHECK(failure.code == errc::invalid_option);
  CHECK(says(failure.message, "999999"));
}
