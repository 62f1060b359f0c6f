#include "stricken.hpp"

#include <signal.h>

#include <algorithm>
#include <catch.hpp>
#include <future>

namespace llamavisor::contract {

using Kind = Event::Kind;

const std::vector<Fault> deaths{{"SIGKILL", SIGKILL}, {"SIGABRT", SIGABRT}, {"SIGSEGV", SIGSEGV}};
const std::vector<Fault> hangs{{"SIGSTOP", SIGSTOP, true}, {"main thread frozen", 0, true}};

Stricken::Stricken(const std::string& device, int parallel, std::vector<std::string> server_args)
    : engines_(
          "LLAMAVISOR_ENGINE_PATH",
          // Before the state folder is set to ours, which this would set back.
          (leave_the_users_state_alone(), cpu_engine().string() + ":" + vulkan_engine().string())),
      state_home_("XDG_STATE_HOME", state_.path().string()),
      model(load(device, parallel, std::move(server_args))),
      on_gpu(device != "cpu") {}

TextModel Stricken::load(const std::string& device, int parallel,
                         std::vector<std::string> server_args) const {
  auto options = device == "cpu" ? cpu_options(log) : vulkan_options(log);
  options.parallel = parallel;
  options.context_length = 2048;
  options.limits.prompt_soft = options.limits.generation_soft = std::chrono::seconds(2);
  options.limits.probe = std::chrono::seconds(2);
  options.limits.prompt_hard =
      options.limits.generation_hard = {};  // it is the probe that finds it
  options.server_args.insert(options.server_args.end(), server_args.begin(), server_args.end());
  return load_model(ascii_model(), options);
}

void Stricken::strike(const Fault& fault) {
  victim_ = own_server();
  if (!fault.hangs) return kill_and_wait(victim_, fault.signal);
  if (fault.signal == 0) {
    frozen_.emplace(victim_);
  } else {
    ::kill(victim_, fault.signal);
  }
}

void Stricken::check_events(const Fault& fault) {
  const auto crash = log.wait_for(Kind::crashed);
  REQUIRE(crash.failure);
  CHECK(crash.generation == 1);
  if (fault.hangs) {
    CHECK(crash.failure->code == errc::server_hung);
    CHECK(crash.failure->cause == Cause::hung);
  } else {
    CHECK(crash.failure->code == errc::server_died);
    CHECK(crash.failure->signal == fault.name);
  }
  wait_until_ended(victim_);
  log.wait_for(Kind::ready, 2);
  CHECK(log.comes_to(Kind::started, 2));
  CHECK(log.comes_to(Kind::crashed, 1));
  CHECK(model.info().device == "cpu");
  if (on_gpu) {
    const auto fell_back = log.wait_for(Kind::fell_back);
    CHECK(fell_back.from == "vulkan:0");
    CHECK(fell_back.to == "cpu");
    CHECK(log.comes_to(Kind::fell_back, 1));
  }
  if (on_gpu && fault.hangs) {
    CHECK(log.comes_to(Kind::quarantined, 1));
  } else {
    CHECK(log.count(Kind::quarantined) == 0);
  }
}

/// Those that spell the first bytes of an answer.
std::vector<TokenId> Stricken::ids_of(const GenerateResult& answer, std::size_t bytes) const {
  std::vector<TokenId> ids = answer.token_ids;
  std::size_t low = 0, high = ids.size();
  while (low < high) {
    const auto middle = (low + high) / 2;
    const std::vector<TokenId> some(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(middle));
    if (model.detokenize(some).size() < bytes) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  ids.resize(low);
  return ids;
}

void Stricken::check_seam(const std::string& prompt, const GenerateResult& answer) {
  REQUIRE_FALSE(answer.failure);
  CHECK(answer.finish_reason == FinishReason::length);
  CHECK(answer.generated_tokens == stricken_tokens);
  CHECK(answer.device == "cpu");
  CHECK(answer.exact);
  REQUIRE(answer.token_ids.size() == static_cast<std::size_t>(stricken_tokens));
  CHECK(model.detokenize(answer.token_ids) == answer.text);
  REQUIRE(answer.resumes.size() == 1);
  CHECK(answer.resumes[0].way == ResumeWay::by_ids);
  const auto seam = answer.resumes[0].text_bytes;
  REQUIRE(seam < answer.text.size());
  const auto delivered = ids_of(answer, seam);
  REQUIRE(model.detokenize(delivered) == answer.text.substr(0, seam));
  auto before = model.tokenize(prompt, true, true);
  before.insert(before.end(), delivered.begin(), delivered.end());
  auto rest = greedy(stricken_tokens - static_cast<int>(delivered.size()));
  rest.cache_prompt = false;
  CHECK(model.generate(before, rest).result_or_throw().text == answer.text.substr(seam));
}

std::vector<std::string> read_all(std::vector<TokenStream>& streams) {
  std::vector<std::future<std::string>> consumers;
  for (auto& stream : streams) {
    consumers.push_back(std::async(std::launch::async, [&stream] {
      std::string text;
      for (const auto& token : stream)
        text += token.text;
      return text;
    }));
  }
  std::vector<std::string> texts;
  for (auto& consumer : consumers)
    texts.push_back(consumer.get());
  return texts;
}

}  // namespace llamavisor::contract
