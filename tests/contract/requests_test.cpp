// What a host may ask of a loaded model, and how requests end.
#include "setup.hpp"

#include <algorithm>
#include <catch.hpp>
#include <cmath>
#include <future>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace llamavisor::contract {
namespace {

using namespace std::chrono_literals;

/// As long as the context allows: it does not end by itself before a test is done with it.
GenerateOptions endless() {
  return greedy(0);
}

void becomes_idle(pid_t server) {
  const auto before = std::chrono::steady_clock::now();
  wait_until("the slots are idle", [&] { return !any_slot_is_busy(server); });
  // The promise is two seconds: ten times that on a machine that is busy.
  CHECK(std::chrono::steady_clock::now() - before < 20s);
}

TEST_CASE("a model says what it is, and what it did") {
  EventLog log;
  const auto model = load_cpu(ascii_model(), log);
  const auto info = model.info();
  CHECK(info.architecture == "llama");
  CHECK(info.quantisation == "F32");
  CHECK(info.vocabulary > 256);
  CHECK(info.layers > 0);
  CHECK(info.hidden_size > 0);
  CHECK(info.parameters > 0);
  CHECK(info.context_length == 4096);
  CHECK(info.parallel == 4);
  CHECK(info.device == "cpu");
  CHECK(info.engine == "cpu");
  CHECK(info.engine_build > 0);
  CHECK(info.generation == 1);
  CHECK(model.state() == ModelState::ready);
  CHECK(model.model_type() == ModelType::instruct);

  model.generate("Hello", greedy(20)).result_or_throw();
  model.generate("Hello, again", greedy(30)).result_or_throw();
  const auto metrics = model.metrics();
  CHECK(metrics.requests == 2);
  CHECK(metrics.failed_requests == 0);
  CHECK(metrics.generated_tokens == 50);
  CHECK(metrics.prompt_tokens > 10);
  CHECK(metrics.generate_ms > 0);
  CHECK(metrics.generate_per_second > 0);
  CHECK(metrics.last_first_token_ms > 0);
  CHECK(metrics.server_memory > 1 << 20);

  log.wait_for(Event::Kind::ready);
  const auto kinds = log.kinds();
  REQUIRE(kinds.size() >= 2);
  CHECK(kinds.front() == Event::Kind::started);
  CHECK(kinds.back() == Event::Kind::ready);
  CHECK(std::all_of(kinds.begin() + 1, kinds.end() - 1,
                    [](auto kind) { return kind == Event::Kind::loading; }));
}

TEST_CASE("a batch answers each prompt in its place, and one that fails fails alone") {
  const auto model = load_cpu(ascii_model());
  std::vector<std::string> prompts;
  for (int number = 0; number < 40; ++number)
    prompts.push_back("prompt number " + std::to_string(number));
  prompts[17] = std::string(5000, 'x');
  auto options = greedy(16);
  options.cache_prompt = false;
  const auto results = model.generate_batch(prompts, options);
  REQUIRE(results.size() == prompts.size());
  for (std::size_t at = 0; at < results.size(); ++at) {
    INFO("prompt " << at);
    if (at == 17) {
      REQUIRE(results[at].failure);
      CHECK(results[at].failure->code == errc::context_exceeded);
      CHECK(results[at].failure->http_status == 400);
      continue;
    }
    CHECK_FALSE(results[at].failure);
    CHECK(results[at].generated_tokens == 16);
  }
  // In their places: each is what its prompt gives alone.
  for (const std::size_t at : {std::size_t{0}, std::size_t{16}, std::size_t{18}, std::size_t{39}}) {
    CHECK(results[at].text == model.generate(prompts[at], options).result_or_throw().text);
  }
}

TEST_CASE("an answer ends before a stop string, and says which") {
  const auto model = load_cpu(ascii_model());
  const auto whole = model.generate("Tell me", greedy(200)).result_or_throw().text;
  const auto stop = whole.substr(60, 9);
  const auto expected = whole.substr(0, whole.find(stop));
  auto options = greedy(200);
  options.stop = {"\x01never\x01", stop};
  auto stream = model.generate("Tell me", options);
  CHECK(stream.result_or_throw().text == expected);
  CHECK(stream.result().finish_reason == FinishReason::stop_string);
  CHECK(stream.result().stop_string == stop);
}

TEST_CASE("an answer ends before a stop token") {
  const auto model = load_cpu(ascii_model());
  const auto whole = model.generate("Tell me", greedy(200)).result_or_throw();
  const auto token = whole.token_ids.at(50);
  const auto place = std::find(whole.token_ids.begin(), whole.token_ids.end(), token);
  auto options = greedy(200);
  options.stop_tokens = {token};
  auto stream = model.generate("Tell me", options);
  const std::vector<TokenId> before(whole.token_ids.begin(), place);
  CHECK(stream.result_or_throw().text == model.detokenize(before));
  CHECK(stream.result().token_ids == before);
  CHECK(stream.result().finish_reason == FinishReason::stop);
  becomes_idle(own_server());
}

TEST_CASE("log-probabilities come with each token, best first") {
  const auto model = load_cpu(ascii_model());
  auto options = greedy(12);
  options.logprobs = 4;
  int count = 0;
  for (const auto& token : model.generate("Hello", options)) {
    ++count;
    REQUIRE(token.logprob);
    REQUIRE(token.top.size() == 4);
    CHECK(token.top.front().id == token.id);  // greedy
    CHECK(token.top.front().text == token.text);
    CHECK(std::abs(token.top.front().logprob - *token.logprob) < 1e-6);
    CHECK(std::is_sorted(token.top.begin(), token.top.end(),
                         [](const auto& a, const auto& b) { return a.logprob > b.logprob; }));
  }
  CHECK(count == 12);
}

TEST_CASE("a grammar and a JSON schema bind the answer") {
  const auto model = load_cpu(ascii_model());
  GenerateOptions options{
      .max_tokens = 64, .temperature = 0, .grammar = "root ::= \"yes\" | \"no\""};
  const auto answer = model.generate("Well?", options).result_or_throw().text;
  CHECK((answer == "yes" || answer == "no"));
  options = {.max_tokens = 64,
             .temperature = 0,
             .json_schema = R"({"type": "object", "properties": {"sure": {"type": "boolean"}},)"
                            R"( "required": ["sure"], "additionalProperties": false})"};
  auto object = model.generate("Well?", options).result_or_throw().text;
  std::erase_if(object, [](char c) { return c == ' ' || c == '\n' || c == '\t'; });
  CHECK((object == R"({"sure":true})" || object == R"({"sure":false})"));
  options = {.grammar = "root ::= undefined-rule"};
  const auto refused = model.generate("Well?", options).result();
  REQUIRE(refused.failure);
  CHECK(refused.failure->code == errc::server_error);
  CHECK(refused.failure->http_status == 400);
  CHECK_FALSE(refused.failure->server_message.empty());
}

TEST_CASE("every sampling option is taken, and a seed makes an answer repeat itself") {
  const auto model = load_cpu(ascii_model());
  GenerateOptions options{.max_tokens = 60,
                          .temperature = 1.2,
                          .top_k = 50,
                          .top_p = 0.95,
                          .min_p = 0.01,
                          .seed = 42,
                          .repeat_penalty = 1.1,
                          .ignore_eos = true,
                          .cache_prompt = false};
  const auto first = model.generate("Hello", options).result_or_throw().text;
  CHECK_FALSE(first.empty());
  CHECK(model.generate("Hello", options).result_or_throw().text == first);
  options.seed = 43;
  CHECK(model.generate("Hello", options).result_or_throw().text != first);
}

TEST_CASE("a chat that reaches the end of the context ends with length") {
  auto options = cpu_options();
  options.context_length = 256;
  const auto model = load_model(ascii_model(), options);
  const std::vector<Message> messages{{.role = "user", .content = std::string(100, 'x')}};
  auto stream = model.chat(messages, endless());
  const auto& result = stream.result_or_throw();
  CHECK(result.finish_reason == FinishReason::length);
  CHECK(result.prompt_tokens + result.generated_tokens >= 255);
  CHECK(result.prompt_tokens + result.generated_tokens <= 257);
  const auto refused = model.generate(std::string(300, 'x'), greedy(1)).result();
  REQUIRE(refused.failure);
  CHECK(refused.failure->code == errc::context_exceeded);
  CHECK(says(refused.failure->message, "context_length"));
}

TEST_CASE("a request past its deadline fails, with what it had, and frees its slot") {
  const auto model = load_cpu(ascii_model());
  auto options = endless();
  options.deadline = 1ms;
  // The consumer waits for the end alone: nothing holds the server back but the deadline.
  const auto result = model.generate("Hello", options).result();
  REQUIRE(result.failure);
  CHECK(result.failure->code == errc::deadline_exceeded);
  CHECK(result.failure->partial_text == result.text);
  becomes_idle(own_server());
  serves(model);
}

TEST_CASE("one request too many is refused as busy, and the others are answered") {
  auto options = cpu_options();
  options.parallel = 1;
  options.max_waiting = 2;
  const auto model = load_model(ascii_model(), options);
  auto running = model.generate("runs", greedy(1500));
  read_tokens(running, 1);  // and is held back from now on
  auto first = model.generate("waits", greedy(3));
  auto second = model.generate("waits too", greedy(3));
  auto refused = model.generate("is refused", greedy(3));
  REQUIRE(refused.result().failure);
  CHECK(refused.result().failure->code == errc::busy);
  CHECK(running.result_or_throw().generated_tokens == 1500);
  CHECK(first.result_or_throw().generated_tokens == 3);
  CHECK(second.result_or_throw().generated_tokens == 3);
}

TEST_CASE("a cancelled answer frees its slot, in whatever way it is cancelled") {
  const auto model = load_cpu(ascii_model());
  const auto server = own_server();
  SECTION("by cancel()") {
    auto stream = model.generate("Hello", endless());
    read_tokens(stream, 1);
    CHECK(any_slot_is_busy(server));
    stream.cancel();
    CHECK_FALSE(stream.next());
    CHECK(stream.result().finish_reason == FinishReason::cancelled);
    CHECK_FALSE(stream.result().failure);
  }
  SECTION("by its destruction") {
    auto stream = std::make_optional(model.generate("Hello", endless()));
    read_tokens(*stream, 1);
    CHECK(any_slot_is_busy(server));
    stream.reset();
  }
  SECTION("by another answer in its place") {
    auto stream = model.generate("Hello", endless());
    read_tokens(stream, 1);
    stream = model.generate("Hello", greedy(1));
    CHECK(stream.result_or_throw().generated_tokens == 1);
  }
  SECTION("by a stop token, while its thread waits") {
    std::stop_source stop;
    const auto result = model.generate(
        "Hello", endless(),
        [&](const Token&) {
          stop.request_stop();
          return true;
        },
        stop.get_token());
    CHECK(result.finish_reason == FinishReason::cancelled);
  }
  SECTION("by its handler") {
    int tokens = 0;
    const auto result =
        model.generate("Hello", endless(), [&](const Token&) { return ++tokens < 3; });
    CHECK(result.finish_reason == FinishReason::cancelled);
    CHECK(tokens == 3);
  }
  becomes_idle(server);
  serves(model);
  CHECK(own_server() == server);
}

TEST_CASE("a cancelled prompt frees its slot") {
  auto options = cpu_options();
  options.server_args.insert(options.server_args.end(), {"-b", "32", "-ub", "32"});
  const auto model = load_model(ascii_model(), options);
  const auto server = own_server();
  auto stream = model.generate(std::string(4000, 'x'), greedy(1));
  wait_until("its prompt is read", [&] { return any_slot_is_busy(server); });
  stream.cancel();
  becomes_idle(server);
}

TEST_CASE("reload starts another server, and the old one's requests end with server_died") {
  EventLog log;
  const auto model = load_cpu(ascii_model(), log);
  const auto before = own_server();
  auto stream = model.generate("Hello", endless());
  const auto delivered = read_tokens(stream, 5);
  model.reload();
  const auto after = own_server();
  CHECK(after != before);
  CHECK(has_ended(before));
  CHECK(model.info().generation == 2);
  REQUIRE(stream.result().failure);
  CHECK(stream.result().failure->code == errc::server_died);
  CHECK(stream.result().failure->partial_text.starts_with(delivered));
  serves(model);
  CHECK(log.count(Event::Kind::crashed) == 0);
  CHECK(log.wait_for(Event::Kind::stopped).generation == 1);
}

TEST_CASE("close ends everything, twice, and what comes after is closed") {
  EventLog log;
  const auto model = load_cpu(ascii_model(), log);
  const auto server = own_server();
  auto stream = model.generate("Hello", endless());
  read_tokens(stream, 5);
  model.close();
  CHECK(has_ended(server));
  CHECK(own_children() == 0);
  model.close();
  CHECK(model.state() == ModelState::closed);
  REQUIRE(stream.result().failure);
  CHECK(stream.result().failure->code == errc::closed);
  const std::vector<TokenId> ids{65, 66};
  REQUIRE(model.generate("Hello", greedy(1)).result().failure);
  CHECK(model.generate("Hello", greedy(1)).result().failure->code == errc::closed);
  CHECK(thrown_by([&] { model.tokenize("a"); }).code == errc::closed);
  CHECK(thrown_by([&] { model.detokenize(ids); }).code == errc::closed);
  CHECK(thrown_by([&] { model.classify("a", 1); }).code == errc::closed);
  CHECK(thrown_by([&] { model.reload(); }).code == errc::closed);
  CHECK(model.generate_batch(std::vector<std::string>{"a"}, greedy(1))[0].failure->code ==
        errc::closed);
  CHECK(log.wait_for(Event::Kind::stopped).generation == 1);
  CHECK(log.count(Event::Kind::crashed) == 0);
}

TEST_CASE("the last handle closes the model, and a stream alone does not keep it") {
  auto model = std::make_optional(load_cpu(ascii_model()));
  const auto server = own_server();
  auto copy = std::make_optional(*model);
  model.reset();
  CHECK_FALSE(has_ended(server));
  auto stream = copy->generate("Hello", endless());
  read_tokens(stream, 2);
  copy.reset();
  CHECK(has_ended(server));
  REQUIRE(stream.result().failure);
  CHECK(stream.result().failure->code == errc::closed);
}

}  // namespace
}  // namespace llamavisor::contract
