// Streams of a real server: what they say, and that no cut of their bytes changes it.
#include "catch.hpp"
#include "stream_recorder.hpp"
#include "unit/expect.hpp"

#include <string>
#include <vector>

using namespace llamavisor;
using namespace llamavisor::server;
using namespace llamavisor::server::test;
using llamavisor::test::near;

namespace {

std::vector<TokenId> ids_of(const StreamRecorder& stream) {
  std::vector<TokenId> ids;
  for (const auto& chunk : stream.chunks)
    ids.insert(ids.end(), chunk.ids.begin(), chunk.ids.end());
  return ids;
}

}  // namespace

TEST_CASE("recorded stream: a plain answer is its tokens, one id each, and an end", "[server]") {
  const StreamRecorder stream(recorded("plain"));
  CHECK(stream.text() == " youu o iscandndywithto odver od is");
  CHECK(ids_of(stream) == std::vector<TokenId>{305, 117, 294, 302, 319, 100, 271, 121, 288, 284,
                                               294, 100, 291, 294, 100, 302});
  for (std::size_t index = 0; index < stream.chunks.size(); ++index) {
    CHECK(stream.chunks[index].tokens_predicted == static_cast<int>(index) + 1);
    CHECK_FALSE(stream.chunks[index].logprob);
  }
  REQUIRE(stream.ends.size() == 1);
  const auto& end = stream.ends[0];
  CHECK(end.reason == FinishReason::length);
  CHECK(end.tokens_predicted == 16);
  CHECK(end.tokens_evaluated == 5);
  CHECK(end.cached_tokens == 0);
  CHECK(end.text.empty());
  CHECK(end.prompt_ms > 0);
  CHECK(end.generate_ms > 0);
  CHECK(stream.failures.empty());
  CHECK(stream.finished());
}

TEST_CASE("recorded stream: the progress of a prompt comes before its first token", "[server]") {
  const StreamRecorder stream(recorded("long_prompt"));
  REQUIRE(stream.calls.size() == 7);
  CHECK(stream.calls[0] == "progress 600 0 0");
  CHECK(stream.calls[1] == "progress 600 0 256");
  CHECK(stream.calls[2] == "progress 600 0 512");
  CHECK(stream.calls[3] == "progress 600 0 600");
  // The progress events carry a token 0 of their own: it is none.
  CHECK(stream.calls[4] == "chunk 'he' 1 #257");
  CHECK(stream.calls[5] == "chunk 'it' 2 #268");
  CHECK(stream.ends.size() == 1);
}

TEST_CASE("recorded stream: probabilities belong to their token, best first", "[server]") {
  const StreamRecorder stream(recorded("probabilities"));
  REQUIRE(stream.chunks.size() == 4);
  for (const auto& chunk : stream.chunks) {
    REQUIRE(chunk.logprob);
    REQUIRE(chunk.top.size() == 3);
    // Greedy: the best alternative is the token itself.
    CHECK(chunk.top[0].id == chunk.ids.back());
    CHECK(chunk.top[0].text == chunk.text);
    CHECK(chunk.top[0].logprob == *chunk.logprob);
    CHECK(chunk.top[0].logprob >= chunk.top[1].logprob);
    CHECK(chunk.top[1].logprob >= chunk.top[2].logprob);
  }
  CHECK(near(*stream.chunks[0].logprob, -0.5664926767349243));
}

TEST_CASE("recorded stream: text held back for a stop string has ids first and text later",
          "[server]") {
  const StreamRecorder stream(recorded("stop_string"));
  REQUIRE(stream.chunks.size() == 9);
  CHECK(stream.calls[6] == "chunk '' 5 #319");
  CHECK(stream.calls[7] == "chunk '' 6 #100");
  CHECK(stream.calls[8] == "chunk 'candnd' 7 #271");
  // The last one carries timings, and is still no end.
  CHECK(stream.calls[10] == "chunk '' 9 #288");
  REQUIRE(stream.ends.size() == 1);
  CHECK(stream.ends[0].reason == FinishReason::stop_string);
  CHECK(stream.ends[0].stop_string == "with");
  CHECK(stream.ends[0].tokens_predicted == 9);
}

TEST_CASE("recorded stream: ids that the server leaves out show in its count", "[server]") {
  const StreamRecorder stream(recorded("missing_ids"));
  REQUIRE(stream.ends.size() == 1);
  CHECK(stream.ends[0].tokens_predicted == 24);
  CHECK(ids_of(stream).size() == 20);
  CHECK(stream.chunks[0].text == "\uFFFD the");
  CHECK(stream.chunks[0].tokens_predicted == 2);
  CHECK(stream.chunks[0].ids == std::vector<TokenId>{297});
}

TEST_CASE("recorded stream: a grammar's end is the model's own end", "[server]") {
  const StreamRecorder stream(recorded("grammar_end"));
  CHECK(stream.text() == "the");
  REQUIRE(stream.ends.size() == 1);
  CHECK(stream.ends[0].reason == FinishReason::stop);
  CHECK(stream.ends[0].stop_string.empty());
}

TEST_CASE("recorded stream: an error after the first token is an error, not an end", "[server]") {
  const StreamRecorder stream(recorded("error_event"));
  CHECK(stream.text() == "a");
  CHECK(stream.ends.empty());
  REQUIRE(stream.failures.size() == 1);
  const auto& failure = stream.failures[0];
  CHECK(failure.code == errc::server_error);
  CHECK(failure.phase == Phase::generation);
  CHECK(failure.http_status == 500);
  CHECK(failure.server_message ==
        "got exception: Unexpected empty grammar stack after accepting piece: & (38)");
  CHECK(stream.finished());
}

TEST_CASE("recorded stream: no cut of the bytes changes a call", "[server]") {
  for (const char* name : {"plain", "long_prompt", "probabilities", "stop_string", "missing_ids",
                           "grammar_end", "error_event"}) {
    CAPTURE(name);
    const auto bytes = recorded(name);
    const StreamRecorder whole(bytes);
    REQUIRE(whole.finished());

    StreamRecorder singly;
    for (const char byte : bytes)
      singly.feed({&byte, 1});
    CHECK(singly.calls == whole.calls);

    for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
      StreamRecorder halves;
      halves.feed(std::string_view(bytes).substr(0, cut));
      halves.feed(std::string_view(bytes).substr(cut));
      if (halves.calls == whole.calls) continue;
      CAPTURE(cut);
      CHECK(halves.calls == whole.calls);
    }
  }
}

TEST_CASE("recorded stream: no beginning of one is a success", "[server]") {
  for (const char* name : {"plain", "stop_string", "error_event"}) {
    CAPTURE(name);
    const auto bytes = recorded(name);
    // The blank line after the last event is part of it; a second one is not.
    const auto last = bytes.find_last_not_of('\n') + 2;
    for (std::size_t size = 0; size <= last; ++size) {
      const StreamRecorder part(std::string_view(bytes).substr(0, size));
      if (!part.finished()) continue;
      CAPTURE(size);
      CHECK(part.finished() == false);
    }
    CHECK(StreamRecorder(std::string_view(bytes).substr(0, last + 1)).finished());
  }
}

TEST_CASE("recorded stream: keep-alives between its lines change nothing", "[server]") {
  const auto bytes = recorded("plain");
  std::string with_pings;
  for (const char byte : bytes) {
    with_pings += byte;
    if (byte == '\n') with_pings += ":\n";
  }
  CHECK(StreamRecorder(with_pings).calls == StreamRecorder(bytes).calls);
}
