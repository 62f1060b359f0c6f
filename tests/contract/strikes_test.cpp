// Whatever befalls a server, at whatever moment: its answers go on on the CPU and are whole. Death
// and hang, by signals and with the computing thread alone frozen; each is struck at a few moments,
// and with LLAMAVISOR_LONG=1 at all of them.
#include "plain_http.hpp"
#include "stricken.hpp"

#include <algorithm>
#include <catch.hpp>
#include <chrono>
#include <string>
#include <vector>

namespace llamavisor::contract {
namespace {

using namespace std::chrono_literals;
using Faults = std::vector<Fault>;
using Moments = std::vector<int>;

const Moments all_moments{1, 7, 20, 40, 200};

bool long_run() {
  return rounds(0, 1) == 1;
}

/// Strikes in the middle of one answer, a fresh model each time.
void strike_after_tokens(const std::string& device, const Faults& faults, const Moments& moments) {
  const std::string prompt = "Once upon a time";
  for (const auto& fault : faults) {
    for (const int tokens : moments) {
      INFO(fault.name << " on " << device << " after " << tokens << " tokens");
      Stricken struck(device);
      // The GPU in software is slow: its unbroken run goes a little further than the seam.
      const auto unbroken =
          struck.model.generate(prompt, greedy(struck.on_gpu ? 300 : stricken_tokens))
              .result_or_throw()
              .text;
      auto stream = struck.model.generate(prompt, greedy(stricken_tokens));
      auto text = read_tokens(stream, tokens);
      struck.strike(fault);
      for (const auto& token : stream)
        text += token.text;
      const auto& answer = stream.result_or_throw();
      CHECK(answer.text == text);  // each piece was delivered once
      struck.check_seam(prompt, answer);
      const auto seam = answer.resumes.at(0).text_bytes;
      CHECK(seam >= static_cast<std::size_t>(tokens));
      const auto comparable = std::min(seam, unbroken.size());
      CHECK(answer.text.substr(0, comparable) == unbroken.substr(0, comparable));
      if (!struck.on_gpu) CHECK(answer.text == unbroken);
      struck.check_events(fault);
    }
  }
}

void strike_in_the_prompt(const Faults& faults) {
  const std::string prompt(1900, 'p');
  auto ask = greedy(40);
  ask.cache_prompt = false;
  for (const auto& fault : faults) {
    INFO(fault.name);
    Stricken struck("vulkan:0", 2, {"-b", "32", "-ub", "32"});
    auto stream = struck.model.generate(prompt, ask);
    wait_until("the prompt is read", [] { return any_slot_is_busy(own_server()); });
    struck.strike(fault);
    const auto& answer = stream.result_or_throw();
    REQUIRE(answer.resumes.size() == 1);
    CHECK(answer.resumes[0].way == ResumeWay::replayed);  // so there had been no token
    CHECK(answer.device == "cpu");
    CHECK(answer.text == struck.model.generate(prompt, ask).result_or_throw().text);
    struck.check_events(fault);
  }
}

void strike_while_idle(const Faults& faults) {
  for (const auto& fault : faults) {
    INFO(fault.name);
    Stricken struck("vulkan:0");
    struck.strike(fault);
    // A death is seen at once; of a hang nobody knows until something is asked.
    if (!fault.hangs) struck.log.wait_for(Event::Kind::crashed);
    const auto answer = struck.model.generate("Hello", greedy(40)).result_or_throw();
    CHECK(answer.resumes.size() == (fault.hangs ? 1U : 0U));
    CHECK(answer.device == "cpu");
    CHECK(answer.text == struck.model.generate("Hello", greedy(40)).result_or_throw().text);
    struck.check_events(fault);
  }
}

void strike_eight_streams(const Faults& faults) {
  for (const auto& fault : faults) {
    INFO(fault.name);
    Stricken struck("vulkan:0", 8);
    std::vector<std::string> prompts;
    std::vector<TokenStream> streams;
    for (int number = 0; number < 8; ++number) {
      prompts.push_back("at once, number " + std::to_string(number));
      streams.push_back(struck.model.generate(prompts.back(), greedy(stricken_tokens)));
    }
    std::vector<std::string> texts;
    for (auto& stream : streams)
      texts.push_back(read_tokens(stream, 10));
    struck.strike(fault);
    const auto rests = read_all(streams);
    for (std::size_t at = 0; at < streams.size(); ++at) {
      INFO("stream " << at);
      const auto& answer = streams[at].result_or_throw();
      CHECK(answer.text == texts[at] + rests[at]);
      struck.check_seam(prompts[at], answer);
    }
    struck.check_events(fault);
  }
}

/// All of them in a long run, else the one with this number.
Faults these(const Faults& faults, std::size_t one) {
  return long_run() ? faults : Faults{faults.at(one)};
}

TEST_CASE("a GPU server killed after some tokens loses none and doubles none") {
  strike_after_tokens("vulkan:0", {deaths.at(0)}, all_moments);
}

TEST_CASE("a GPU server that aborts or crashes in mid-answer loses no token and doubles none") {
  strike_after_tokens("vulkan:0", {deaths.at(1), deaths.at(2)},
                      long_run() ? all_moments : Moments{20});
}

TEST_CASE("a GPU server that is stopped in mid-answer is noticed, and its answer goes on") {
  strike_after_tokens("vulkan:0", {hangs.at(0)}, long_run() ? all_moments : Moments{7});
}

TEST_CASE(
    "a GPU server whose computing thread freezes in mid-answer is noticed, and its answer goes "
    "on") {
  strike_after_tokens("vulkan:0", {hangs.at(1)}, long_run() ? all_moments : Moments{40});
}

TEST_CASE(
    "a CPU server whose computing thread freezes in mid-answer is replaced, its answer unbroken") {
  strike_after_tokens("cpu", {hangs.at(1)}, long_run() ? all_moments : Moments{20});
}

TEST_CASE("a GPU server that dies in the prompt phase: the prompt is asked again on the CPU") {
  strike_in_the_prompt(these(deaths, 0));
}

TEST_CASE("a GPU server that hangs in the prompt phase: the prompt is asked again on the CPU") {
  strike_in_the_prompt(these(hangs, 1));
}

TEST_CASE("a GPU server that dies while idle: the next request runs on the CPU and never knows") {
  strike_while_idle(these(deaths, 0));
}

TEST_CASE("a GPU server that hangs while idle: the next request finds out, and runs on the CPU") {
  strike_while_idle(these(hangs, 1));
}

TEST_CASE(
    "a GPU server that dies under eight streams: each goes on, whole, after one replacement") {
  strike_eight_streams(these(deaths, 0));
}

TEST_CASE(
    "a GPU server that hangs under eight streams: each goes on, whole, after one replacement") {
  strike_eight_streams(these(hangs, 1));
}

/// A model on the GPU, with a list of quarantined devices of its own, and a prompt that is decoded
/// in pieces of 512 tokens: whoever strikes then, strikes in the middle of a decode.
class Decoding {
 public:
  explicit Decoding(const Limits& limits, const GenerateOptions& ask)
      : model_(load(limits)), stream_(model_.generate(std::string(3900, 'p'), ask)) {
    wait_until("the prompt is read", [] { return any_slot_is_busy(own_server()); });
  }

  TokenStream& stream() { return stream_; }

 private:
  static TextModel load(const Limits& limits) {
    auto options = vulkan_options();
    options.limits = limits;
    return load_model(ascii_model(), options);
  }

  ScopedVariable engines_{
      "LLAMAVISOR_ENGINE_PATH",
      (leave_the_users_state_alone(), cpu_engine().string() + ":" + vulkan_engine().string())};
  TemporaryFolder state_;
  ScopedVariable state_home_{"XDG_STATE_HOME", state_.path().string()};
  TextModel model_;
  TokenStream stream_;
};

TEST_CASE(
    "the stock server, frozen in the middle of a decode, answers /health and /slots all the same") {
  const Decoding decoding({.stop_grace = 0ms}, greedy(4));
  const auto server = own_server();
  const auto socket = argument_of(server, "--host");
  const FrozenThread frozen(server);
  CHECK(http_request(socket, "GET", "/health").status == 200);
  CHECK(any_slot_is_busy(server));
}

TEST_CASE("a server frozen in the middle of a decode is noticed without the hard limit") {
  Decoding decoding({.prompt_soft = 1s, .prompt_hard = 0ms, .probe = 1s}, greedy(4));
  const FrozenThread frozen(own_server());
  const auto& answer = decoding.stream().result_or_throw();
  CHECK(answer.device == "cpu");
  CHECK(answer.generated_tokens == 4);
}

}  // namespace
}  // namespace llamavisor::contract
