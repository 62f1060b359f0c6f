#include "http/sse_parser.hpp"

#include "catch.hpp"
#include "sse_recorder.hpp"

#include <algorithm>
#include <random>
#include <string>
#include <string_view>

using namespace llamavisor::http;
using namespace llamavisor::http::test;

namespace {

using Events = std::vector<RecordedEvent>;

void feed_byte_by_byte(SseRecorder& recorder, std::string_view bytes) {
  for (const char byte : bytes)
    recorder.feed({&byte, 1});
}

}  // namespace

TEST_CASE("sse: a keep-alive is reported once, and is no event", "[sse]") {
  SseRecorder recorder;
  recorder.feed(":\n\n: ping");
  CHECK(recorder.comments == 1);
  recorder.feed(" pong\r\n");
  CHECK(recorder.comments == 2);
  CHECK(recorder.events.empty());
}

TEST_CASE("sse: a comment inside an event leaves the event whole", "[sse]") {
  SseRecorder recorder;
  feed_byte_by_byte(recorder, "data: a\n: ping\ndata: b\n\n");
  CHECK(recorder.events == Events{{"a\nb"}});
  CHECK(recorder.comments == 1);
}

TEST_CASE("sse: an error field is reported by itself, with no event", "[sse]") {
  const std::string stream = "error: {\"code\":500}\n\ndata: x\n\nerror\n";
  SseRecorder whole;
  whole.feed(stream);
  CHECK(whole.errors == std::vector<std::string>{"{\"code\":500}", ""});
  CHECK(whole.events == Events{{"x"}});
  SseRecorder cut;
  feed_byte_by_byte(cut, stream);
  CHECK(cut.same_as(whole));
}

TEST_CASE("sse: an event whose line ends are cut from it survives the bytes it came in", "[sse]") {
  SseRecorder recorder;
  recorder.feed("data: first");
  recorder.feed("\n");
  recorder.feed("data: second\n");
  recorder.feed("id: 7\nevent: done\n");
  recorder.feed("\n");
  CHECK(recorder.events == Events{{"first\nsecond", "done", "7"}});
}

TEST_CASE("sse: a BOM is dropped at every cut, and half of one is not", "[sse]") {
  SseRecorder with_bom;
  feed_byte_by_byte(with_bom,
                    "\xEF\xBB\xBF"
                    "data: x\n\n");
  CHECK(with_bom.events == Events{{"x"}});
  SseRecorder half;
  feed_byte_by_byte(half,
                    "\xEF\xBB"
                    "data: x\n\ndata: y\n\n");
  CHECK(half.events == Events{{"y"}});
  SseRecorder none;
  feed_byte_by_byte(none,
                    "\xEF\xBB\n\n\xEF\xBB\xBF"
                    "data: x\n\ndata: y\n\n");
  CHECK(none.events == Events{{"y"}});
}

TEST_CASE("sse: an event of the bound's size passes, one byte more fails the stream", "[sse]") {
  const std::string fits = "data: 0123\n\n";
  const std::string too_long = "data: 01234\n\n";
  for (const bool whole : {true, false}) {
    SseRecorder recorder(10);
    const auto feed = [&](std::string_view bytes) {
      whole ? recorder.feed(bytes) : feed_byte_by_byte(recorder, bytes);
    };
    feed(fits);
    feed(fits);
    CHECK_FALSE(recorder.failed());
    CHECK(recorder.events == Events{{"0123"}, {"0123"}});
    feed(too_long);
    CHECK(recorder.failed());
    feed(fits);
    CHECK(recorder.events.size() == 2);
  }
}

TEST_CASE("sse: many short lines of one event are bounded too", "[sse]") {
  SseRecorder recorder(1000);
  int lines = 0;
  for (; !recorder.failed() && lines < 10000; ++lines)
    recorder.feed("data: 0123456789\n");
  CHECK(recorder.failed());
  CHECK(lines < 100);
  CHECK(recorder.events.empty());
}

TEST_CASE("sse: a line that never ends fails the stream, a comment that never ends does not",
          "[sse]") {
  SseRecorder line(1000);
  SseRecorder comment(1000);
  line.feed("id: ");
  comment.feed(":");
  for (int i = 0; i < 1001; ++i) {
    line.feed("x");
    comment.feed("x");
  }
  CHECK(line.failed());
  CHECK_FALSE(comment.failed());
  comment.feed("\ndata: still here\n\n");
  CHECK(comment.events == Events{{"still here"}});
}

TEST_CASE("sse: stop in an event keeps the events glued to it away", "[sse]") {
  int events = 0;
  SseParser* self = nullptr;
  SseParser parser({.on_event =
                        [&](const SseEvent&) {
                          ++events;
                          self->stop();
                        },
                    .on_comment = [&] { ++events; },
                    .on_error_field = [&](std::string_view) { ++events; }});
  self = &parser;
  parser.feed("data: last\n\ndata: more\n\n: ping\nerror: late\n");
  parser.feed("data: more\n\n");
  CHECK(events == 1);
  CHECK_FALSE(parser.failed());
}

TEST_CASE("sse: a parser without handlers reads on", "[sse]") {
  SseParser parser({});
  parser.feed("data: x\n\n: ping\nerror: y\n");
  CHECK_FALSE(parser.failed());
}

TEST_CASE("sse: any bytes, cut anywhere, give what they give whole", "[sse]") {
  std::mt19937 random(20260801);
  const std::string_view words[] = {"data",     "data:",
                                    "data: ",   "event: ",
                                    "id: ",     "id",
                                    "error: ",  ":",
                                    "\n",       "\r",
                                    "\r\n",     "\n\n",
                                    "\r\r",     "x",
                                    "模型",     "\xFF",
                                    " ",        "\xEF\xBB\xBF",
                                    "retry: 1", std::string_view("\0", 1)};
  const auto below = [&](std::size_t bound) {
    return std::uniform_int_distribution<std::size_t>(0, bound - 1)(random);
  };
  for (int round = 0; round < 3000; ++round) {
    std::string stream;
    for (auto count = below(40); count > 0; --count)
      stream += words[below(std::size(words))];
    const std::size_t bound = round % 2 == 0 ? 1000 : 1 + below(30);
    SseRecorder whole(bound);
    whole.feed(stream);
    SseRecorder cut(bound);
    for (std::string_view rest = stream; !rest.empty();) {
      const auto size = std::min(rest.size(), below(9));
      cut.feed(rest.substr(0, size));
      rest.remove_prefix(size);
    }
    CAPTURE(round, stream, bound);
    if (!cut.same_as(whole)) {
      CHECK(cut.events == whole.events);
      CHECK(cut.errors == whole.errors);
      CHECK(cut.comments == whole.comments);
      CHECK(cut.failed() == whole.failed());
    }
  }
}
