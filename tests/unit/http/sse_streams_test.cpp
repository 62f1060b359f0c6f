// What a real llama-server sent, cut and glued in every way.
#include "catch.hpp"
#include "sse_recorder.hpp"
#include "test_paths.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

using namespace llamavisor::http::test;

namespace {

struct Stream {
  std::string name;
  std::string bytes;
  std::vector<RecordedEvent> events;
};

/// The recorded streams have one data line an event, and nothing else: a few lines of code read
/// them without a parser. Reads whole events up to the given size.
Stream read_stream(const std::filesystem::path& file, std::size_t largest) {
  std::ifstream in(file, std::ios::binary);
  Stream stream{file.filename().string(), {std::istreambuf_iterator<char>(in), {}}, {}};
  if (stream.bytes.size() > largest) {
    stream.bytes.resize(stream.bytes.rfind("\n\n", largest - 2) + 2);
  }
  for (std::size_t at = 0; at < stream.bytes.size();) {
    const auto end = stream.bytes.find("\n\n", at);
    const auto line = stream.bytes.substr(at, end - at);
    REQUIRE(line.rfind("data: ", 0) == 0);
    stream.events.push_back({line.substr(6)});
    at = end + 2;
  }
  return stream;
}

std::vector<Stream> read_streams(std::size_t largest = std::string::npos) {
  std::vector<Stream> streams;
  for (const auto& entry :
       std::filesystem::directory_iterator(llamavisor::test::fixture("streams"))) {
    if (entry.path().extension() == ".sse") streams.push_back(read_stream(entry.path(), largest));
  }
  REQUIRE(streams.size() >= 5);
  return streams;
}

}  // namespace

TEST_CASE("sse: a recorded stream cut at every byte gives the same events", "[sse]") {
  // Every cut takes the whole stream again: of a long one its beginning will do.
  for (const auto& stream : read_streams(4096)) {
    CAPTURE(stream.name);
    REQUIRE(stream.events.size() > 1);
    for (std::size_t cut = 0; cut <= stream.bytes.size(); ++cut) {
      SseRecorder recorder;
      recorder.feed(std::string_view(stream.bytes).substr(0, cut));
      recorder.feed(std::string_view(stream.bytes).substr(cut));
      if (recorder.events != stream.events) {
        CAPTURE(cut);
        CHECK(recorder.events == stream.events);
      }
    }
  }
}

TEST_CASE("sse: recorded streams glued together give their events in order, however they are cut",
          "[sse]") {
  std::string bytes;
  std::vector<RecordedEvent> events;
  for (const auto& stream : read_streams()) {
    bytes += ": keep-alive\n\n" + stream.bytes;
    events.insert(events.end(), stream.events.begin(), stream.events.end());
  }
  SseRecorder whole;
  whole.feed(bytes);
  CHECK(whole.events == events);
  std::mt19937 random(20260901);
  for (const std::size_t largest : {1u, 2u, 7u, 100u, 1500u, 16384u}) {
    CAPTURE(largest);
    SseRecorder cut;
    for (std::string_view rest = bytes; !rest.empty();) {
      const auto size =
          std::min(rest.size(), std::uniform_int_distribution<std::size_t>(0, largest)(random));
      cut.feed(rest.substr(0, size));
      rest.remove_prefix(size);
    }
    CHECK(cut.same_as(whole));
  }
}
