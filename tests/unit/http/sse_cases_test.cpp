// The parser against files of cases: [{"name", "bytes_hex", "events": [{"data", "event", "id"}]}].
// LLAMAVISOR_SSE_CASES names a further file of the same form.
#include "catch.hpp"
#include "sse_recorder.hpp"
#include "test_paths.hpp"

#include <boost/json.hpp>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

using namespace llamavisor::http::test;

namespace {

struct Case {
  std::string name;
  std::string bytes;
  std::vector<RecordedEvent> events;
};

std::string from_hex(std::string_view hex) {
  if (hex.size() % 2 != 0) throw std::runtime_error("an odd number of hex digits");
  std::string bytes;
  for (std::size_t at = 0; at < hex.size(); at += 2) {
    std::size_t used = 0;
    bytes.push_back(static_cast<char>(std::stoi(std::string(hex.substr(at, 2)), &used, 16)));
    if (used != 2) throw std::runtime_error("not a hex digit");
  }
  return bytes;
}

std::string text_at(const boost::json::object& object, std::string_view key) {
  return boost::json::value_to<std::string>(object.at(key));
}

std::vector<Case> read_cases(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw std::runtime_error("cannot open " + file);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const auto document = boost::json::parse(text);
  std::vector<Case> cases;
  for (const auto& value : document.as_array()) {
    const auto& object = value.as_object();
    Case one{text_at(object, "name"), from_hex(text_at(object, "bytes_hex")), {}};
    for (const auto& event : object.at("events").as_array()) {
      const auto& fields = event.as_object();
      one.events.push_back(
          {text_at(fields, "data"), text_at(fields, "event"), text_at(fields, "id")});
    }
    cases.push_back(std::move(one));
  }
  if (cases.empty()) throw std::runtime_error("no case in " + file);
  return cases;
}

std::vector<RecordedEvent> events_cut_at(std::string_view bytes, std::size_t cut) {
  SseRecorder recorder;
  recorder.feed(bytes.substr(0, cut));
  recorder.feed(bytes.substr(cut));
  return recorder.events;
}

std::vector<RecordedEvent> events_byte_by_byte(std::string_view bytes) {
  SseRecorder recorder;
  for (const char byte : bytes)
    recorder.feed({&byte, 1});
  return recorder.events;
}

void check_file(const std::string& file) {
  CAPTURE(file);
  for (const auto& one : read_cases(file)) {
    CAPTURE(one.name);
    for (std::size_t cut = 0; cut <= one.bytes.size(); ++cut) {
      CAPTURE(cut);
      const auto events = events_cut_at(one.bytes, cut);
      if (events != one.events) CHECK(events == one.events);
    }
    CHECK(events_byte_by_byte(one.bytes) == one.events);
  }
}

}  // namespace

TEST_CASE("sse: every case gives its events whole, cut at every byte, and byte by byte", "[sse]") {
  check_file(llamavisor::test::fixture("sse/cases.json"));
}

TEST_CASE("sse: a further file of cases holds as well", "[sse]") {
  const char* file = std::getenv("LLAMAVISOR_SSE_CASES");
  if (file == nullptr) {
    WARN("LLAMAVISOR_SSE_CASES names no file");
    CHECK_THROWS(read_cases("/no/such/file.json"));
    return;
  }
  check_file(file);
}
