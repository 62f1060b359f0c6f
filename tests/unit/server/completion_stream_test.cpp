// What no stock server should send, and what older ones did.
#include "server/completion_stream.hpp"

#include "catch.hpp"
#include "stream_recorder.hpp"
#include "unit/expect.hpp"

#include <random>
#include <string>
#include <string_view>
#include <vector>

using namespace llamavisor;
using namespace llamavisor::server;
using namespace llamavisor::server::test;
using llamavisor::test::says;

namespace {

using Calls = std::vector<std::string>;

constexpr std::string_view a_chunk =
    R"({"content":"a","tokens":[7],"stop":false,"tokens_predicted":1})";

/// The one failure of a stream that ended in it.
Failure failure_of(std::string_view bytes) {
  const StreamRecorder stream(bytes);
  REQUIRE(stream.failures.size() == 1);
  CHECK(stream.ends.empty());
  CHECK(stream.finished());
  CHECK(stream.calls.back().starts_with("error "));
  return stream.failures[0];
}

}  // namespace

TEST_CASE("completion stream: the order of the members does not matter", "[server]") {
  const StreamRecorder stream(
      event(R"({"tokens_predicted":3,"stop":false,"tokens":[5,6],"index":0,"content":"ab"})") +
      event(R"({"timings":{"predicted_ms":2.5,"cache_n":4,"prompt_ms":1},"stop_type":"word",)"
            R"("stopping_word":"x","stop":true,"tokens_evaluated":9,"tokens_predicted":3,)"
            R"("content":"rest"})"));
  REQUIRE(stream.chunks.size() == 1);
  CHECK(stream.chunks[0].text == "ab");
  CHECK(stream.chunks[0].ids == std::vector<TokenId>{5, 6});
  CHECK(stream.chunks[0].tokens_predicted == 3);
  REQUIRE(stream.ends.size() == 1);
  const auto& end = stream.ends[0];
  CHECK(end.reason == FinishReason::stop_string);
  CHECK(end.stop_string == "x");
  CHECK(end.text == "rest");
  CHECK(end.tokens_predicted == 3);
  CHECK(end.tokens_evaluated == 9);
  CHECK(end.cached_tokens == 4);
  CHECK(end.prompt_ms == 1);
  CHECK(end.generate_ms == 2.5);
}

TEST_CASE("completion stream: members that are missing have their defaults", "[server]") {
  const StreamRecorder stream(event(R"({"content":"a"})") + event(R"({"content":"","stop":true})"));
  CHECK(stream.calls == Calls{"chunk 'a' 0", "end 0 '' '' 0 0 0 0 0"});
}

TEST_CASE("completion stream: members of the same name further down are other members",
          "[server]") {
  const StreamRecorder stream(
      event(R"({"content":"a","x":{"content":"no","tokens":[1],"stop":true,"error":{}},)"
            R"("tokens":[7],"y":[{"content":"no","stop":true}],"stop":false,)"
            R"("tokens_predicted":1})") +
      event(R"({"content":"","generation_settings":{"stop":[],"n_predict":3,"stream":true,)"
            R"("timings":{"cache_n":99}},"stop":true,"stop_type":"eos","tokens_predicted":1})"));
  CHECK(stream.calls == Calls{"chunk 'a' 1 #7", "end 0 '' '' 1 0 0 0 0"});
}

TEST_CASE("completion stream: escapes and characters cut in half come out whole", "[server]") {
  const auto bytes = event(R"({"content":"q\"b\\s\/n\nt\té\ud83d\ude00)"
                           "\xF0\x9F\x98\x80\xE6\xA8\xA1"
                           R"(","tokens":[1]})");
  const std::string text = "q\"b\\s/n\nt\t\u00e9\xF0\x9F\x98\x80\xF0\x9F\x98\x80\xE6\xA8\xA1";
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    StreamRecorder stream;
    stream.feed(std::string_view(bytes).substr(0, cut));
    stream.feed(std::string_view(bytes).substr(cut));
    CAPTURE(cut);
    REQUIRE(stream.chunks.size() == 1);
    CHECK(stream.chunks[0].text == text);
  }
}

TEST_CASE("completion stream: a token that is no id is -1, never another id", "[server]") {
  const StreamRecorder stream(
      event(R"({"content":"a","tokens":["7",1.5,null,4294967296,-9999999999,[8],{"id":9},3]})"));
  REQUIRE(stream.chunks.size() == 1);
  CHECK(stream.chunks[0].ids == std::vector<TokenId>{-1, -1, -1, -1, -1, -1, -1, 3});
}

TEST_CASE("completion stream: of several probabilities the last is the last token's", "[server]") {
  const StreamRecorder stream(event(
      R"({"content":"ab","tokens":[2],"completion_probabilities":[)"
      R"({"id":1,"token":"a","logprob":-1,"top_logprobs":[{"id":1,"token":"a","logprob":-1}]},)"
      R"({"id":2,"token":"b","bytes":[98],"logprob":-2,"top_logprobs":[)"
      R"({"id":3,"token":"c","bytes":[99],"logprob":-0.5},{"token":"b","id":2,"logprob":-2}]}]})"));
  CHECK(stream.calls == Calls{"chunk 'ab' 0 #2 p=-2 [3 'c' -0.5] [2 'b' -2]"});
}

TEST_CASE("completion stream: an error event ends it, in every form", "[server]") {
  for (const char* data :
       {R"({"error":{"code":503,"message":"m","type":"t"}})",
        R"({"index":0,"content":"","error":{"message":"m","code":503},"stop":true})"}) {
    CAPTURE(data);
    const auto failure = failure_of(event(a_chunk) + event(data));
    CHECK(failure.code == errc::server_error);
    CHECK(failure.phase == Phase::generation);
    CHECK(failure.http_status == 503);
    CHECK(failure.server_message == "m");
  }
  CHECK(failure_of(event(R"({"error":"plain words"})")).server_message == "plain words");
  CHECK(failure_of(event(R"({"error":null})")).http_status == 500);
}

TEST_CASE("completion stream: an older server's error line ends it", "[server]") {
  const auto failure = failure_of(
      event(a_chunk) + "error: {\"code\":500,\"message\":\"old\",\"type\":\"server_error\"}\n\n");
  CHECK(failure.code == errc::server_error);
  CHECK(failure.http_status == 500);
  CHECK(failure.server_message == "old");
  CHECK(failure_of("error: no JSON at all\n").server_message == "no JSON at all");
}

TEST_CASE("completion stream: a prompt that grew beyond the context has its own code", "[server]") {
  const auto failure =
      failure_of(event(R"({"error":{"code":400,"message":"m","type":"exceed_context_size_error",)"
                       R"("n_prompt_tokens":9,"n_ctx":8}})"));
  CHECK(failure.code == errc::context_exceeded);
}

TEST_CASE("completion stream: nothing comes after its end", "[server]") {
  const std::string more = event(a_chunk) + "error: {}\n" + final_event() + "data: garbage\n\n";
  const StreamRecorder ended(final_event() + more);
  CHECK(ended.calls.size() == 1);
  StreamRecorder failed(event("garbage") + more);
  failed.feed(more);
  CHECK(failed.calls.size() == 1);
  CHECK(failed.failures.size() == 1);
}

TEST_CASE("completion stream: the mark of the other endpoints is no event, and no end",
          "[server]") {
  const StreamRecorder stream(event(a_chunk) + "data: [DONE]\n\n");
  CHECK(stream.calls.size() == 1);
  CHECK_FALSE(stream.finished());
}

TEST_CASE("completion stream: what is no JSON is a protocol error", "[server]") {
  for (const char* data : {"garbage", "{", "{}x", "{\"content\":\"a\"} {}", "{\"content\":\"a\n\"}",
                           "{\"content\":\"\xFF\"}", "{\"content\":\"\xC3\"}", "{'content':'a'}",
                           "{\"content\":\"\\ud83d\"}", "[DONE] ", "", " ", "nul", "1 2"}) {
    CAPTURE(data);
    const auto failure = failure_of(event(a_chunk) + event(data));
    CHECK(failure.code == errc::protocol_error);
    CHECK(says(failure.message, "JSON"));
  }
}

TEST_CASE("completion stream: JSON that is no event of a completion is a protocol error",
          "[server]") {
  for (const char* data :
       {"{}", "[]", "null", "7", "\"a\"", "true", R"({"content":null})", R"({"content":7})",
        R"({"content":["a"]})", R"({"tokens":[1]})", R"({"choices":[{"delta":{"content":"a"}}]})",
        R"([{"content":"a","stop":true}])", R"({"x":{"content":"a"}})"}) {
    CAPTURE(data);
    const auto failure = failure_of(event(a_chunk) + event(data));
    CHECK(failure.code == errc::protocol_error);
    CHECK(says(failure.message, "\"content\""));
  }
}

TEST_CASE("completion stream: only a true 'stop' is an end", "[server]") {
  for (const char* stop : {"false", "null", "1", "\"true\"", "[true]", "{}"}) {
    CAPTURE(stop);
    const StreamRecorder stream(event(fmt::format(R"({{"content":"a","stop":{}}})", stop)));
    CHECK(stream.chunks.size() == 1);
    CHECK_FALSE(stream.finished());
  }
}

TEST_CASE("completion stream: an unknown kind of end is the model's own", "[server]") {
  for (const auto& [type, reason] : {std::pair{"eos", FinishReason::stop},
                                     {"word", FinishReason::stop_string},
                                     {"limit", FinishReason::length},
                                     {"none", FinishReason::stop},
                                     {"news", FinishReason::stop}}) {
    CAPTURE(type);
    const StreamRecorder stream(
        event(fmt::format(R"({{"content":"","stop":true,"stop_type":"{}"}})", type)));
    REQUIRE(stream.ends.size() == 1);
    CHECK(stream.ends[0].reason == reason);
  }
}

TEST_CASE("completion stream: JSON of any depth ends in an error, not in the stack", "[server]") {
  const std::string deep(1'000'000, '[');
  const auto failure = failure_of(event(R"({"content":"a","x":)" + deep));
  CHECK(failure.code == errc::protocol_error);
}

TEST_CASE("completion stream: a text of megabytes comes whole", "[server]") {
  const std::string text(4'000'000, 'x');
  StreamRecorder stream;
  const auto bytes = event(R"({"content":")" + text + R"(","tokens":[1]})") + final_event();
  for (std::size_t at = 0; at < bytes.size(); at += 65'521)
    stream.feed(std::string_view(bytes).substr(at, 65'521));
  CHECK(stream.text() == text);
  CHECK(stream.finished());
}

TEST_CASE("completion stream: an event without an end is cut off at the bound", "[server]") {
  StreamRecorder stream;
  stream.feed("data: {\"content\":\"");
  const std::string piece(1u << 20, 'x');
  for (int megabyte = 0; megabyte < 65 && !stream.finished(); ++megabyte)
    stream.feed(piece);
  REQUIRE(stream.failures.size() == 1);
  CHECK(stream.failures[0].code == errc::protocol_error);
  CHECK(says(stream.failures[0].message, "beyond all bounds"));
}

TEST_CASE("completion stream: a long stream is as good at its end as at its start", "[server]") {
  const auto bytes = recorded("long_answer");
  const StreamRecorder once(bytes);
  const auto last = bytes.rfind("data: ");
  const auto tokens = bytes.substr(0, last);
  StreamRecorder stream;
  for (int round = 0; round < 500; ++round)
    stream.feed(tokens);
  stream.feed(std::string_view(bytes).substr(last));
  REQUIRE(stream.finished());
  REQUIRE(stream.chunks.size() == 500 * once.chunks.size());
  CHECK(stream.chunks.back().text == once.chunks.back().text);
  CHECK(stream.ends.size() == 1);
}

TEST_CASE("completion stream: damaged bytes end in one failure or none, never in two", "[server]") {
  const auto good = recorded("probabilities");
  std::mt19937 random(20260801);
  const auto below = [&](std::size_t bound) { return random() % bound; };
  for (int round = 0; round < 3000; ++round) {
    auto bytes = good;
    for (auto flips = 1 + below(4); flips > 0; --flips)
      bytes[below(bytes.size())] = static_cast<char>(random());
    StreamRecorder stream;
    for (std::size_t at = 0; at < bytes.size();) {
      const auto size = 1 + below(700);
      stream.feed(std::string_view(bytes).substr(at, size));
      at += size;
    }
    const auto ends = stream.ends.size() + stream.failures.size();
    const bool good_end = ends <= 1 && stream.finished() == (ends == 1);
    if (good_end) continue;
    CAPTURE(round);
    CHECK(good_end);
  }
}
