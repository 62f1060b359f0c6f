// A server dies in the middle of an answer, and the joined text is that of the unbroken run: at
// temperature 0, on the same device, with flash attention off.
#include "setup.hpp"

#include <signal.h>

#include <algorithm>
#include <catch.hpp>
#include <future>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace llamavisor::contract {
namespace {

constexpr int answer_tokens = 1200;  // more than the stream and its socket hold: a death cuts it

/// A model that is loaded once, with the answers that nothing disturbed.
class Scene {
 public:
  explicit Scene(const std::filesystem::path& file) : model(load(file)) {}

  const GenerateResult& unbroken(const std::string& prompt) {
    auto& answer = answers_[prompt];
    if (!answer) {
      answer = std::make_unique<GenerateResult>(
          model.generate(prompt, greedy(answer_tokens)).result_or_throw());
    }
    return *answer;
  }

  /// Kills the server after some tokens; the whole answer.
  GenerateResult broken(const std::string& prompt, int tokens, int signal = SIGKILL) {
    auto stream = model.generate(prompt, greedy(answer_tokens));
    auto text = read_tokens(stream, tokens);
    kill_and_wait(own_server(), signal);
    for (const auto& token : stream)
      text += token.text;
    auto result = stream.result_or_throw();
    CHECK(result.text == text);  // each piece was delivered once
    return result;
  }

  EventLog log;
  TextModel model;

 private:
  TextModel load(const std::filesystem::path& file) {
    auto options = cpu_options(log);
    options.parallel = 8;
    options.context_length = 2048;
    // Dying is all that this model does.
    options.recovery.restarts = 1000;
    options.recovery.first_delay = options.recovery.longest_delay = std::chrono::milliseconds(1);
    return load_model(file, options);
  }

  std::map<std::string, std::unique_ptr<GenerateResult>> answers_;
};

void is_unbroken(const GenerateResult& joined, const GenerateResult& unbroken) {
  CHECK(joined.text == unbroken.text);
  CHECK(joined.generated_tokens == unbroken.generated_tokens);
  CHECK(joined.finish_reason == unbroken.finish_reason);
  REQUIRE(joined.resumes.size() == 1);
  CHECK(joined.generations == 2);
  CHECK_FALSE(joined.failure);
}

TEST_CASE("an answer whose server is killed after some tokens is the unbroken one") {
  Scene scene(ascii_model());
  const std::string prompt = "Once upon a time";
  const auto& unbroken = scene.unbroken(prompt);
  REQUIRE(unbroken.token_ids_complete);
  for (const int tokens : {1, 7, 20, 40, 200}) {
    INFO("killed after " << tokens << " tokens");
    const auto joined = scene.broken(prompt, tokens);
    is_unbroken(joined, unbroken);
    CHECK(joined.resumes[0].way == ResumeWay::by_ids);
    CHECK(joined.resumes[0].text_bytes >= static_cast<std::size_t>(tokens));
    CHECK(joined.token_ids == unbroken.token_ids);
    CHECK(joined.exact);
  }
  CHECK(scene.log.comes_to(Event::Kind::crashed, 5));
  CHECK(scene.log.comes_to(Event::Kind::started, 6));
  CHECK(scene.log.count(Event::Kind::fell_back) == 0);
}

TEST_CASE("a death at any point leaves the ids of an answer as they were") {
  Scene scene(ascii_model());
  std::mt19937 random(20260801);
  for (int round = 0; round < rounds(20, 200); ++round) {
    const auto prompt = "prompt " + std::to_string(round % 5);
    const int tokens = static_cast<int>(random() % 500);
    INFO("round " << round << ", killed after " << tokens << " tokens");
    const auto& unbroken = scene.unbroken(prompt);
    const auto joined = scene.broken(prompt, tokens);
    is_unbroken(joined, unbroken);
    CHECK(joined.token_ids == unbroken.token_ids);
  }
}

TEST_CASE("a death at any point leaves a text as it was, even in the middle of a character") {
  Scene scene(babbling_model());
  std::mt19937 random(20260802);
  int regenerated = 0;
  for (int round = 0; round < rounds(20, 200); ++round) {
    const auto prompt = "prompt " + std::to_string(round % 5);
    const int tokens = static_cast<int>(random() % 400);
    INFO("round " << round << ", killed after " << tokens << " tokens");
    const auto& unbroken = scene.unbroken(prompt);
    REQUIRE_FALSE(unbroken.token_ids_complete);
    const auto joined = scene.broken(prompt, tokens);
    is_unbroken(joined, unbroken);
    regenerated += joined.resumes[0].way == ResumeWay::by_regeneration;
  }
  CHECK(regenerated > 0);
}

TEST_CASE("an answer whose server dies again and again is the unbroken one") {
  Scene scene(ascii_model());
  const auto& unbroken = scene.unbroken("again");
  auto stream = scene.model.generate("again", greedy(answer_tokens));
  std::string text;
  for (int death = 0; death < 4; ++death) {
    text += read_tokens(stream, 30);
    scene.log.wait_for(Event::Kind::ready, death + 1);
    kill_and_wait(own_server(), SIGKILL);
  }
  for (const auto& token : stream)
    text += token.text;
  CHECK(text == unbroken.text);
  CHECK(stream.result_or_throw().token_ids == unbroken.token_ids);
  CHECK(stream.result().generations == static_cast<int>(stream.result().resumes.size()) + 1);
  CHECK(stream.result().resumes.size() >= 2);
}

TEST_CASE("eight answers at once outlive one death: one replacement, eight whole texts") {
  Scene scene(ascii_model());
  std::vector<std::string> prompts;
  for (int number = 0; number < 8; ++number)
    prompts.push_back("at once, number " + std::to_string(number));
  for (const auto& prompt : prompts)
    scene.unbroken(prompt);
  std::vector<TokenStream> streams;
  for (const auto& prompt : prompts)
    streams.push_back(scene.model.generate(prompt, greedy(answer_tokens)));
  std::vector<std::string> texts;
  for (std::size_t at = 0; at < streams.size(); ++at)
    texts.push_back(read_tokens(streams[at], 10 + static_cast<int>(at)));
  kill_and_wait(own_server(), SIGKILL);
  // Each stream has its own consumer, since a stream that is not read holds its server back.
  std::vector<std::future<std::string>> consumers;
  for (auto& stream : streams) {
    consumers.push_back(std::async(std::launch::async, [&stream] {
      std::string text;
      for (const auto& token : stream)
        text += token.text;
      return text;
    }));
  }
  for (std::size_t at = 0; at < streams.size(); ++at) {
    INFO("stream " << at);
    CHECK(texts[at] + consumers[at].get() == scene.unbroken(prompts[at]).text);
    is_unbroken(streams[at].result_or_throw(), scene.unbroken(prompts[at]));
  }
  CHECK(scene.log.comes_to(Event::Kind::started, 2));
  CHECK(scene.log.comes_to(Event::Kind::crashed, 1));
}

TEST_CASE("a prompt whose server dies before the first token is asked again, once") {
  Scene scene(ascii_model());
  const auto& unbroken = scene.unbroken("not yet");
  const auto server = own_server();
  const auto ids = scene.model.tokenize("not yet", true, true);
  ::kill(server, SIGSTOP);  // it takes the request, and does nothing with it
  auto stream = scene.model.generate(ids, greedy(answer_tokens));
  kill_and_wait(server, SIGKILL);
  is_unbroken(stream.result_or_throw(), unbroken);
  CHECK(stream.result().resumes[0].way == ResumeWay::replayed);
  CHECK(stream.result().exact);
}

TEST_CASE("a death in the middle of a long prompt loses nothing") {
  auto options = cpu_options();
  options.server_args.insert(options.server_args.end(), {"-b", "32", "-ub", "32"});
  options.context_length = 8192;
  options.parallel = 1;
  const auto model = load_model(ascii_model(), options);
  const std::string prompt(6000, 'p');
  const auto whole = model.generate(prompt, greedy(40)).result_or_throw().text;
  auto ask = greedy(40);
  ask.cache_prompt = false;
  auto stream = model.generate(prompt, ask);
  wait_until("the prompt is read", [&] { return any_slot_is_busy(own_server()); });
  kill_and_wait(own_server(), SIGKILL);
  CHECK(stream.result_or_throw().text == whole);
}

TEST_CASE("a stop string is seen across the seam") {
  Scene scene(ascii_model());
  const std::string prompt = "stop there";
  const auto text = scene.unbroken(prompt).text;
  std::mt19937 random(20260803);
  for (int round = 0; round < rounds(6, 60); ++round) {
    // It is long, so that a death falls into the middle of it.
    const std::size_t from = 250 + random() % 300;
    const auto stop = text.substr(from, 300);
    const auto expected = text.substr(0, text.find(stop));
    auto options = greedy(answer_tokens);
    options.stop = {stop};
    INFO("round " << round << ", stop string at byte " << expected.size());
    auto stream = scene.model.generate(prompt, options);
    auto joined = read_tokens(stream, static_cast<int>(random() % 200));
    const auto server = own_server();
    kill_and_wait(server, SIGKILL);
    for (const auto& token : stream)
      joined += token.text;
    CHECK(joined == expected);
    CHECK(stream.result_or_throw().text == expected);
    CHECK(stream.result().finish_reason == FinishReason::stop_string);
    CHECK(stream.result().stop_string == stop);
    scene.log.wait_for(Event::Kind::ready, round + 2);
  }
}

}  // namespace
}  // namespace llamavisor::contract
