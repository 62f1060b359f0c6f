// A server dies or hangs: what goes on, on what, and what the host is told.
#include "setup.hpp"

#include <signal.h>

#include <catch.hpp>
#include <future>
#include <string>
#include <vector>

namespace llamavisor::contract {
namespace {

using namespace std::chrono_literals;
using Kind = Event::Kind;

/// Five thousand letters: more than any answer here has.
constexpr auto long_grammar = "root ::= line{100}\nline ::= [a-z]{50}";

TEST_CASE("a server that dies while idle is replaced, and the next request never knows") {
  EventLog log;
  const auto model = load_cpu(ascii_model(), log);
  const auto expected = model.generate("Hello", greedy(30)).result_or_throw().text;
  for (int death = 1; death <= 3; ++death) {
    kill_and_wait(own_server(), SIGKILL);
    const auto crash = log.wait_for(Kind::crashed, death);
    CHECK(crash.generation == death);
    REQUIRE(crash.failure);
    CHECK(crash.failure->code == errc::server_died);
    CHECK(crash.failure->phase == Phase::idle);
    CHECK(crash.failure->cause == Cause::killed_from_outside);
    CHECK(crash.failure->signal == "SIGKILL");
    CHECK_FALSE(crash.failure->last_lines.empty());
    const auto answer = model.generate("Hello", greedy(30)).result_or_throw();
    CHECK(answer.text == expected);
    CHECK(answer.resumes.empty());  // it came after the death
    CHECK(model.info().generation == death + 1);
  }
  const std::vector<Kind> expected_end{Kind::crashed, Kind::restarting, Kind::started};
  log.wait_for(Kind::ready, 4);
  auto kinds = log.kinds();
  std::erase(kinds, Kind::loading);
  REQUIRE(kinds.size() == 14);  // started, ready, and three times four
  for (std::size_t at = 2; at < kinds.size(); at += 4) {
    CHECK(std::vector<Kind>(kinds.begin() + static_cast<long>(at),
                            kinds.begin() + static_cast<long>(at) + 3) == expected_end);
    CHECK(kinds[at + 3] == Kind::ready);
  }
}

TEST_CASE("a crash is told with its signal and phase, and the answer goes on") {
  EventLog log;
  const auto model = load_cpu(ascii_model(), log);
  int death = 0;
  for (const auto& [signal, name] : {std::pair{SIGSEGV, "SIGSEGV"}, {SIGABRT, "SIGABRT"}}) {
    auto stream = model.generate("Hello", greedy(1500));
    read_tokens(stream, 10);
    kill_and_wait(own_server(), signal);
    CHECK(stream.result_or_throw().generated_tokens == 1500);
    CHECK(stream.result().resumes.size() == 1);
    const auto crash = log.wait_for(Kind::crashed, ++death);
    CHECK(crash.failure->signal == name);
    CHECK(crash.failure->phase == Phase::generation);
    CHECK(crash.failure->code == errc::server_died);
  }
}

TEST_CASE("a frozen server is probed, killed and replaced, and its answers go on") {
  EventLog log;
  auto options = cpu_options(log);
  options.limits.generation_soft = options.limits.prompt_soft = options.limits.probe = 1s;
  const auto model = load_model(ascii_model(), options);
  const auto expected = model.generate("Hello", greedy(1500)).result_or_throw().text;
  auto stream = model.generate("Hello", greedy(1500));
  auto text = read_tokens(stream, 10);
  const auto server = own_server();
  ::kill(server, SIGSTOP);
  for (const auto& token : stream)
    text += token.text;
  CHECK(text == expected);
  CHECK(stream.result_or_throw().resumes.size() >= 1);
  CHECK(has_ended(server));
  const auto crash = log.wait_for(Kind::crashed);
  CHECK(crash.failure->code == errc::server_hung);
  CHECK(crash.failure->cause == Cause::hung);
  CHECK(log.count(Kind::quarantined) == 0);  // never the CPU
  CHECK(model.state() == ModelState::ready);
}

TEST_CASE("small questions outlive a death too") {
  const auto model = load_cpu(ascii_model());
  const auto ids = model.tokenize("Hello", true, true);
  const auto best = model.classify("Hello", 5).candidates;
  for (int death = 0; death < 3; ++death) {
    const auto server = own_server();
    ::kill(server, SIGSTOP);
    auto tokenized =
        std::async(std::launch::async, [&] { return model.tokenize("Hello", true, true); });
    auto classified = std::async(std::launch::async, [&] { return model.classify("Hello", 5); });
    kill_and_wait(server, SIGKILL);
    CHECK(tokenized.get() == ids);
    const auto again = classified.get().candidates;
    REQUIRE(again.size() == 5);
    for (std::size_t rank = 0; rank < 5; ++rank)
      CHECK(again[rank].id == best[rank].id);
  }
}

TEST_CASE("a grammar's answer goes on too, by generating it again") {
  const auto model = load_cpu(ascii_model());
  GenerateOptions options{.max_tokens = 1200, .temperature = 0, .grammar = long_grammar};
  const auto expected = model.generate("Hello", options).result_or_throw().text;
  REQUIRE(expected.size() >= 1200);
  auto stream = model.generate("Hello", options);
  auto text = read_tokens(stream, 50);
  kill_and_wait(own_server(), SIGKILL);
  for (const auto& token : stream)
    text += token.text;
  CHECK(text == expected);
  CHECK(stream.result_or_throw().resumes.at(0).way == ResumeWay::by_regeneration);
}

TEST_CASE("a grammar's answer at random that cannot be repeated fails, with what was delivered") {
  const auto model = load_cpu(ascii_model());
  GenerateOptions options{.max_tokens = 1200, .temperature = 1.5, .grammar = long_grammar};
  auto stream = model.generate("Hello", options);
  const auto delivered = read_tokens(stream, 200);
  kill_and_wait(own_server(), SIGKILL);
  REQUIRE(stream.result().failure);
  CHECK(stream.result().failure->code == errc::not_resumable);
  CHECK(stream.result().failure->partial_text == stream.result().text);
  CHECK(stream.result().text.starts_with(delivered));
  serves(model);
}

TEST_CASE("a sampled answer goes on after what was delivered, and no token is lost or doubled") {
  const auto model = load_cpu(ascii_model());
  GenerateOptions options{.max_tokens = 1200, .temperature = 1, .seed = 7, .ignore_eos = true};
  auto stream = model.generate("Hello", options);
  auto text = read_tokens(stream, 100);
  kill_and_wait(own_server(), SIGKILL);
  for (const auto& token : stream)
    text += token.text;
  const auto& result = stream.result_or_throw();
  CHECK(result.text == text);
  CHECK(result.generated_tokens == 1200);
  REQUIRE(result.token_ids.size() == 1200);
  CHECK(model.detokenize(result.token_ids) == text);
  CHECK(result.resumes.at(0).way == ResumeWay::by_ids);
}

TEST_CASE("with Fallback::never a death is a typed error, and nothing is started again") {
  EventLog log;
  auto options = cpu_options(log);
  options.fallback = Fallback::never;
  const auto model = load_model(ascii_model(), options);
  auto stream = model.generate("Hello", greedy(1500));
  const auto delivered = read_tokens(stream, 20);
  kill_and_wait(own_server(), SIGKILL);
  const auto& result = stream.result();
  REQUIRE(result.failure);
  CHECK(result.finish_reason == FinishReason::error);
  CHECK(result.failure->code == errc::server_died);
  CHECK(result.failure->phase == Phase::generation);
  CHECK(result.failure->signal == "SIGKILL");
  CHECK(result.failure->partial_text == result.text);
  CHECK(result.text.starts_with(delivered));
  log.wait_for(Kind::failed);
  CHECK(model.state() == ModelState::failed);
  const auto refused = thrown_by([&] { model.tokenize("a"); });
  CHECK(refused.code == errc::not_ready);
  REQUIRE(refused.causes.size() == 1);
  CHECK(refused.causes[0].code == errc::server_died);
  CHECK(own_children() == 0);
  CHECK(log.comes_to(Kind::started, 1));
  model.reload();
  serves(model);
  CHECK(log.comes_to(Kind::started, 2));
}

TEST_CASE("a model whose server keeps dying fails with every cause, and reload mends it") {
  EventLog log;
  auto options = cpu_options(log);
  options.recovery.restarts = 2;
  const auto model = load_model(ascii_model(), options);
  for (int death = 1; death <= 3; ++death) {
    log.wait_for(Kind::ready, death);
    kill_and_wait(own_server(), SIGKILL);
  }
  const auto failed = log.wait_for(Kind::failed);
  CHECK(failed.failure->causes.size() == 3);
  CHECK(model.generate("Hello", greedy(1)).result().failure->code == errc::not_ready);
  CHECK(own_children() == 0);
  model.reload();
  serves(model);
}

TEST_CASE("close during a failover leaves nothing, and nothing comes back to life") {
  EventLog log;
  const auto model = load_cpu(ascii_model(), log);
  auto stream = model.generate("Hello", greedy(1500));
  read_tokens(stream, 10);
  kill_and_wait(own_server(), SIGKILL);
  log.wait_for(Kind::crashed);
  model.close();
  CHECK(own_children() == 0);
  REQUIRE(stream.result().failure);
  CHECK(stream.result().failure->code == errc::closed);
  CHECK(model.state() == ModelState::closed);
}

TEST_CASE("one model's death leaves another model's answers untouched") {
  EventLog log;
  const auto first = load_cpu(ascii_model(), log);
  const auto doomed = own_server();
  const auto second = load_cpu(ascii_model(), log);
  auto dying = first.generate("Hello", greedy(1500));
  auto living = second.generate("Hello", greedy(1500));
  read_tokens(dying, 10);
  read_tokens(living, 10);
  kill_and_wait(doomed, SIGKILL);
  CHECK(living.result_or_throw().resumes.empty());
  CHECK(dying.result_or_throw().resumes.size() == 1);
  CHECK(living.result().text == dying.result().text);
  CHECK(log.comes_to(Kind::crashed, 1));
}

TEST_CASE("when a GPU process dies every stream goes on on the CPU, and the host is told once") {
  const auto packs = cpu_engine().string() + ":" + vulkan_engine().string();
  EventLog log;
  auto options = vulkan_options(log);
  const ScopedVariable path("LLAMAVISOR_ENGINE_PATH", packs);
  const auto model = load_model(ascii_model(), options);
  CHECK(model.info().device == "vulkan:0");
  CHECK(model.info().engine == "vulkan");
  CHECK(model.info().gpu_layers == model.info().gpu_layers_total);
  CHECK(model.info().gpu_layers > 0);
  std::vector<TokenStream> streams;
  std::vector<std::string> texts;
  for (int number = 0; number < 2; ++number)
    streams.push_back(model.generate("number " + std::to_string(number), greedy(1000)));
  for (auto& stream : streams)
    texts.push_back(read_tokens(stream, 10));
  kill_and_wait(own_server(), SIGKILL);
  for (std::size_t at = 0; at < streams.size(); ++at) {
    for (const auto& token : streams[at])
      texts[at] += token.text;
    const auto& result = streams[at].result_or_throw();
    CHECK(result.text == texts[at]);
    CHECK(result.generated_tokens == 1000);
    REQUIRE(result.token_ids.size() == 1000);
    CHECK(model.detokenize(result.token_ids) == texts[at]);
    CHECK(result.device == "cpu");
    REQUIRE(result.resumes.size() == 1);
    CHECK(result.resumes[0].way == ResumeWay::by_ids);
  }
  const auto fell_back = log.wait_for(Kind::fell_back);
  CHECK(fell_back.from == "vulkan:0");
  CHECK(fell_back.to == "cpu");
  REQUIRE(fell_back.failure);
  CHECK(fell_back.failure->signal == "SIGKILL");
  CHECK(log.comes_to(Kind::fell_back, 1));
  CHECK(log.count(Kind::quarantined) == 0);  // a kill from outside says nothing of the device
  CHECK(log.comes_to(Kind::started, 2));
  CHECK(model.info().device == "cpu");
  CHECK(model.info().engine == "cpu");
  serves(model);
}

TEST_CASE("a GPU that hangs is quarantined for all models, and its answers go on on the CPU") {
  const auto packs = cpu_engine().string() + ":" + vulkan_engine().string();
  EventLog log;
  auto options = vulkan_options(log);
  options.limits.generation_soft = options.limits.prompt_soft = 5s;
  options.limits.probe = 2s;
  const ScopedVariable path("LLAMAVISOR_ENGINE_PATH", packs);
  // The state is this test's own: a quarantine would meet every other test's GPU.
  const TemporaryFolder state;
  leave_the_users_state_alone();
  const ScopedVariable state_home("XDG_STATE_HOME", state.path().string());
  const auto model = load_model(babbling_model(), options);
  auto stream = model.generate("Hello", greedy(800));
  auto text = read_tokens(stream, 10);
  ::kill(own_server(), SIGSTOP);
  for (const auto& token : stream)
    text += token.text;
  CHECK(stream.result_or_throw().text == text);
  CHECK(stream.result().device == "cpu");
  CHECK(log.wait_for(Kind::quarantined).device == "vulkan:0");
  CHECK(log.comes_to(Kind::quarantined, 1));
  CHECK(log.comes_to(Kind::fell_back, 1));
  const auto refused = thrown_by([&] { load_model(ascii_model(), options); });
  CHECK(refused.code == errc::device_quarantined);
  CHECK(own_servers().size() == 1);
}

TEST_CASE("with Fallback::never the death of a GPU process starts no CPU process") {
  const auto packs = cpu_engine().string() + ":" + vulkan_engine().string();
  EventLog log;
  auto options = vulkan_options(log);
  options.fallback = Fallback::never;
  const ScopedVariable path("LLAMAVISOR_ENGINE_PATH", packs);
  const auto model = load_model(ascii_model(), options);
  auto stream = model.generate("Hello", greedy(1000));
  read_tokens(stream, 5);
  kill_and_wait(own_server(), SIGKILL);
  REQUIRE(stream.result().failure);
  CHECK(stream.result().failure->code == errc::server_died);
  log.wait_for(Kind::failed);
  CHECK(own_children() == 0);
  CHECK(log.comes_to(Kind::started, 1));
}

TEST_CASE("with a standby, requests go on on a server that is warm already") {
  const auto packs = cpu_engine().string() + ":" + vulkan_engine().string();
  EventLog log;
  auto options = vulkan_options(log);
  options.standby = true;
  const ScopedVariable path("LLAMAVISOR_ENGINE_PATH", packs);
  const auto model = load_model(ascii_model(), options);
  wait_until("the standby is there", [] { return own_servers().size() == 2; });
  const auto servers = own_servers();
  auto stream = model.generate("Hello", greedy(1000));
  read_tokens(stream, 10);
  kill_and_wait(servers[0], SIGKILL);
  CHECK(stream.result_or_throw().generated_tokens == 1000);
  CHECK(stream.result().device == "cpu");
  CHECK(own_server() == servers[1]);
  CHECK(log.comes_to(Kind::started, 2));
}

}  // namespace
}  // namespace llamavisor::contract
