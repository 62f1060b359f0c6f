#include "http/response_reader.hpp"

#include "catch.hpp"
#include "response_recorder.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

using namespace llamavisor::http;
using namespace llamavisor::http::test;
using State = ResponseReader::State;

namespace {

struct Example {
  std::string name;
  std::string bytes;
  int status = 200;
  std::string type = "text/plain";
  std::string body = "hello";
  bool ends_with_connection = false;
};

const std::vector<Example>& examples() {
  static const std::vector<Example> all = {
      {"content length",
       "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello"},
      {"up to the connection's end", "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nhello",
       200, "text/plain", "hello", true},
      {"HTTP/1.0", "HTTP/1.0 200 OK\r\ncontent-type: text/plain\r\n\r\nhello", 200, "text/plain",
       "hello", true},
      {"chunked",
       "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n"
       "2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n"},
      {"chunked, with extensions and trailers",
       "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n"
       "Trailer: X-Sum\r\n\r\n"
       "2;a=b\r\nhe\r\n003;q=\"; 9\"\r\nllo\r\n0;last\r\nX-Sum: 1\r\nX-More: 2\r\n\r\n"},
      {"chunks of line ends",
       "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n"
       "4\r\n\r\n\r\n\r\nA\r\n0123456789\r\n0\r\n\r\n",
       200, "text/plain", "\r\n\r\n0123456789"},
      {"interim answers",
       "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\nX: y\r\n\r\n"
       "HTTP/1.1 201 Created\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello",
       201},
      {"no reason", "HTTP/1.1 404 \r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello",
       404},
      {"204 has no body", "HTTP/1.1 204 No Content\r\nContent-Length: 7\r\n\r\n", 204, "", ""},
      {"304 has no body", "HTTP/1.1 304 Not Modified\r\nContent-Type: a/b\r\n\r\n", 304, "a/b", ""},
      {"empty body", "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n", 503, "", ""},
      {"empty chunked body", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 200,
       "", ""},
  };
  return all;
}

void check(const ResponseRecorder& recorder, const Example& example) {
  CHECK(recorder.heads == 1);
  CHECK(recorder.status == example.status);
  CHECK(recorder.type == example.type);
  CHECK(recorder.body == example.body);
  CHECK(recorder.state() == State::complete);
}

std::string head_with(std::string_view fields) {
  return "HTTP/1.1 200 OK\r\n" + std::string(fields) + "\r\n";
}

}  // namespace

TEST_CASE("a response is the same whole, cut at every byte, and byte by byte", "[http]") {
  for (const auto& example : examples()) {
    CAPTURE(example.name);
    for (std::size_t cut = 0; cut <= example.bytes.size(); ++cut) {
      CAPTURE(cut);
      ResponseRecorder recorder;
      recorder.feed(std::string_view(example.bytes).substr(0, cut));
      recorder.feed(std::string_view(example.bytes).substr(cut));
      CHECK(recorder.state() == (example.ends_with_connection ? State::open : State::complete));
      recorder.end_of_stream();
      check(recorder, example);
    }
    ResponseRecorder recorder;
    recorder.feed_byte_by_byte(example.bytes);
    recorder.end_of_stream();
    check(recorder, example);
  }
}

TEST_CASE("a response that stops at any byte is never complete", "[http]") {
  for (const auto& example : examples()) {
    CAPTURE(example.name);
    const auto head_end = example.bytes.rfind("\r\n\r\n", example.bytes.size() - 5);
    for (std::size_t size = 0; size < example.bytes.size(); ++size) {
      // Nothing but the connection's end marks the end of such a body.
      if (example.ends_with_connection && size >= head_end + 4) break;
      CAPTURE(size);
      ResponseRecorder recorder;
      recorder.feed(std::string_view(example.bytes).substr(0, size));
      CHECK(recorder.state() == State::open);
      CHECK(recorder.end_of_stream() == State::cut_off);
      CHECK(recorder.detail().find("the connection ended") == 0);
    }
  }
}

TEST_CASE("the body is handed on before the response is whole", "[http]") {
  ResponseRecorder recorder;
  recorder.feed(head_with("Transfer-Encoding: chunked\r\n"));
  CHECK(recorder.heads == 1);
  recorder.feed("5\r\nhel");
  CHECK(recorder.body == "hel");
  recorder.feed("lo");
  CHECK(recorder.body == "hello");
  CHECK(recorder.state() == State::open);
}

TEST_CASE("a body larger than 8 MiB passes", "[http]") {
  // Beast's own bound ended a stream after some 33,000 events.
  ResponseRecorder recorder;
  recorder.feed(head_with("Transfer-Encoding: chunked\r\n"));
  const std::string mebibyte(1 << 20, 'x');
  for (int i = 0; i < 12; ++i)
    recorder.feed("100000\r\n" + mebibyte + "\r\n");
  CHECK(recorder.feed("0\r\n\r\n") == State::complete);
  CHECK(recorder.body.size() == 12u << 20);
}

TEST_CASE("bytes after the response are ignored", "[http]") {
  ResponseRecorder recorder;
  CHECK(recorder.feed(head_with("Content-Length: 2\r\n") + "okHTTP/1.1 500 X\r\n\r\n") ==
        State::complete);
  CHECK(recorder.feed("more") == State::complete);
  CHECK(recorder.end_of_stream() == State::complete);
  CHECK(recorder.heads == 1);
  CHECK(recorder.body == "ok");
}

TEST_CASE("what is no HTTP response is malformed as soon as it shows", "[http]") {
  const std::vector<std::string> inputs = {
      "hi",
      "\n",
      "\r\n",
      std::string(1, '\0'),
      "HTTP/2",
      "HTTP/1.7 200 OK\r\n",
      "HTTP/1.1 2x0 OK\r\n",
      "HTTP/1.1 099 OK\r\n\r\n",
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
      "SSH-2.0-OpenSSH_9.2\r\n",
      "{\"error\":1}",
      head_with("Content-Length: -1\r\n"),
      head_with("Content-Length: 5x\r\n"),
      head_with("Content-Length: 99999999999999999999\r\n"),
      head_with("Content-Length: 1\r\nContent-Length: 2\r\n"),
      head_with("Content-Length: 1\r\nTransfer-Encoding: chunked\r\n"),
      head_with("Bad Field: 1\r\n"),
      head_with("X: a\nb\r\n"),
      head_with("Transfer-Encoding: chunked\r\n") + "x\r\n",
      head_with("Transfer-Encoding: chunked\r\n") + "fffffffffffffffff\r\n",
      head_with("Transfer-Encoding: chunked\r\n") + "-1\r\n",
      head_with("Transfer-Encoding: chunked\r\n") + "2\r\nabcd\r\n",
  };
  for (const auto& input : inputs) {
    CAPTURE(input);
    ResponseRecorder whole;
    CHECK(whole.feed(input) == State::malformed);
    CHECK_FALSE(whole.detail().empty());
    CHECK(whole.end_of_stream() == State::malformed);
    ResponseRecorder cut;
    CHECK(cut.feed_byte_by_byte(input + "\r\n\r\n") == State::malformed);
  }
}

TEST_CASE("a head, a chunk header and trailers without end are malformed, not memory", "[http]") {
  const auto feed_until_malformed = [](ResponseRecorder& recorder, std::string_view piece) {
    std::size_t fed = 0;
    while (recorder.state() == State::open && fed < (1u << 20)) {
      recorder.feed(piece);
      fed += piece.size();
    }
    CHECK(recorder.state() == State::malformed);
    return fed;
  };
  ResponseRecorder many_fields;
  many_fields.feed("HTTP/1.1 200 OK\r\n");
  CHECK(feed_until_malformed(many_fields, "X-Field: 0123456789\r\n") < 100'000);

  ResponseRecorder long_field;
  long_field.feed("HTTP/1.1 200 OK\r\nX-Field: ");
  CHECK(feed_until_malformed(long_field, "0123456789") < 100'000);

  ResponseRecorder whole;
  CHECK(whole.feed("HTTP/1.1 200 OK\r\nX-Field: " + std::string(100'000, 'x') + "\r\n\r\n") ==
        State::malformed);

  ResponseRecorder long_reason;
  long_reason.feed("HTTP/1.1 200 ");
  CHECK(feed_until_malformed(long_reason, "0123456789") < 100'000);

  ResponseRecorder extension;
  extension.feed(head_with("Transfer-Encoding: chunked\r\n") + "1;a=");
  CHECK(feed_until_malformed(extension, "0123456789") < 100'000);

  ResponseRecorder trailers;
  trailers.feed(head_with("Transfer-Encoding: chunked\r\n") + "0\r\n");
  CHECK(feed_until_malformed(trailers, "X-Field: 0123456789\r\n") < 100'000);

  ResponseRecorder interim;
  CHECK(feed_until_malformed(interim, "HTTP/1.1 100 Continue\r\n\r\n") < 100'000);
}

TEST_CASE("a head of 16 KiB passes", "[http]") {
  ResponseRecorder recorder;
  std::string fields;
  while (fields.size() < 16 * 1024)
    fields += "X-Field: 0123456789\r\n";
  CHECK(recorder.feed(head_with(fields + "Content-Length: 0\r\n")) == State::complete);
}
