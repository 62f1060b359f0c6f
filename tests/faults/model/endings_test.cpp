// Long streams, slow readers, and what a failure says.
#include "fake_world.hpp"

#include <boost/json.hpp>

#include <catch.hpp>
#include <fstream>
#include <string>
#include <vector>

namespace llamavisor::faults {
namespace {

using namespace std::chrono_literals;
using Kind = Event::Kind;

/// Resident memory of this process, in KiB.
long resident_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word != "VmRSS:") continue;
    long kib = 0;
    status >> kib;
    return kib;
  }
  return 0;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool memory_is_ours = false;  // a sanitizer keeps what is freed
#else
constexpr bool memory_is_ours = true;
#endif

TEST_CASE("a stream of a hundred thousand tokens comes whole, in bounded memory") {
  const FakeWorld world("skip=1");
  auto options = world.cpu();
  options.context_length = 110'000;
  options.parallel = 1;
  const auto model = world.load(options);
  model.generate("warm", greedy(2000)).result_or_throw();
  const auto before = resident_kib();
  auto stream = model.generate("Hello", greedy(100'000));
  int tokens = 0;
  std::uint64_t hash = 0;
  while (const auto token = stream.next()) {
    ++tokens;
    for (const char c : token->text)
      hash = hash * 31 + static_cast<unsigned char>(c);
  }
  CHECK(tokens == 100'000);
  const auto& result = stream.result_or_throw();
  CHECK(result.text.size() == 100'000);
  CHECK(result.token_ids.size() == 100'000);
  std::uint64_t expected = 0;
  for (const char c : result.text)
    expected = expected * 31 + static_cast<unsigned char>(c);
  CHECK(hash == expected);
  // The answer itself is half a megabyte.
  if (memory_is_ours) CHECK(resident_kib() - before < 8 * 1024);
}

TEST_CASE("a slow reader slows the server, and is no hang") {
  const FakeWorld world("skip=1");
  auto options = world.cpu();
  options.context_length = 60'000;
  options.limits = short_limits();
  const auto model = world.load(options);
  auto stream = model.generate("Hello", greedy(50'000));
  auto text = read_tokens(stream, 1);
  // The server is held back: its answer stays unfinished while others are answered, for longer than
  // any limit of a hang.
  const auto until = std::chrono::steady_clock::now() + options.limits.generation_soft * 4;
  int others = 0;
  while (std::chrono::steady_clock::now() < until || others < 5) {
    CHECK(model.generate("other", greedy(50)).result_or_throw().generated_tokens == 50);
    ++others;
  }
  for (const auto& finished : world.story().events("finished"))
    CHECK(finished.at("tokens").to_number<int>() <= 50);
  CHECK(join(std::move(text), stream).size() == 50'000);
  CHECK(world.log().count(Kind::crashed) == 0);
}

TEST_CASE("a failure says phase, exit or signal, cause and last lines, and so does its event") {
  const FakeWorld world("");
  world.write("words", "the first of the last words\nthe very last word\n");
  world.set_script("skip=1 die=token:3:signal:ABRT text_on_stderr=" + world.file("words").string());
  auto options = world.cpu();
  options.fallback = Fallback::never;
  const auto model = world.load(options);
  const auto result = model.generate("Hello", greedy(20)).result();
  REQUIRE(result.failure);
  const auto event = world.log().wait_for(Kind::crashed);
  for (const auto& failure : {*result.failure, *event.failure}) {
    CHECK(failure.code == errc::server_died);
    CHECK(failure.phase == Phase::generation);
    CHECK(failure.signal == "SIGABRT");
    CHECK_FALSE(failure.exit_code);
    REQUIRE(failure.last_lines.size() >= 2);
    CHECK(failure.last_lines.back() == "the very last word");
    CHECK(says(failure.message, "SIGABRT"));
    CHECK(says(failure.message, "cpu"));
  }
  CHECK(result.failure->partial_text.size() == 3);
}

TEST_CASE("requests that the server refuses say why, and are not tried again") {
  const FakeWorld world("");
  auto options = world.cpu();
  options.context_length = 100;
  const auto model = world.load(options);
  const auto result = model.generate(std::string(300, 'x'), greedy(1)).result();
  REQUIRE(result.failure);
  CHECK(result.failure->code == errc::context_exceeded);
  CHECK(result.failure->http_status == 400);
  CHECK(says(result.failure->message, "context_length"));
  CHECK(each_sent_once_to_each(world.story()));
  CHECK(world.started() == 1);
}

TEST_CASE("a request's deadline ends it in a prompt, in a failover and in the queue") {
  auto ask = greedy(20);
  ask.deadline = 150ms;
  const auto passes = [&](const std::string& script, int waiting) {
    INFO(script);
    const FakeWorld world(script);
    auto options = world.gpu();
    options.parallel = 1;
    const auto model = world.load(options);
    std::vector<TokenStream> before;
    for (int request = 0; request < waiting; ++request)
      before.push_back(model.generate("before", greedy(2000)));
    const auto result = model.generate("Hello", ask).result();
    REQUIRE(result.failure);
    CHECK(result.failure->code == errc::deadline_exceeded);
  };
  passes("skip=1 prompt_batch=1 prompt_delay_ms=100", 0);
  passes("skip=1 gpu:die=token:3:signal:KILL cpu:load_ms=60000", 0);
  passes("skip=1 token_delay_us=5000", 1);
}

TEST_CASE("small questions never wait behind a completion") {
  const FakeWorld world("skip=1 token_delay_us=20000");
  auto options = world.cpu();
  options.parallel = 1;
  const auto model = world.load(options);
  auto running = model.generate("Hello", greedy(4000));
  auto waiting = model.generate("Hello", greedy(4000));
  read_tokens(running, 1);
  CHECK(model.tokenize("abc").size() == 3);
  CHECK(model.detokenize(std::vector<TokenId>{97, 98}) == "ab");
  CHECK_FALSE(running.next() == std::nullopt);
}

}  // namespace
}  // namespace llamavisor::faults
