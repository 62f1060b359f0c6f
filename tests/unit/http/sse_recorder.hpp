// What an SseParser reported, kept as values that can be compared.
#pragma once

#include "http/sse_parser.hpp"

#include <initializer_list>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace llamavisor::http::test {

struct RecordedEvent {
  std::string data;
  std::string event = "message";
  std::string id = {};

  bool operator==(const RecordedEvent&) const = default;
  friend std::ostream& operator<<(std::ostream& out, const RecordedEvent& event) {
    return out << "{data: '" << event.data << "', event: '" << event.event << "', id: '" << event.id
               << "'}";
  }
};

class SseRecorder {
 public:
  explicit SseRecorder(std::size_t max_event = 64u << 20)
      : parser_({.on_event =
                     [this](const SseEvent& event) {
                       events.push_back({std::string(event.data), std::string(event.event),
                                         std::string(event.id)});
                     },
                 .on_comment = [this] { ++comments; },
                 .on_error_field = [this](std::string_view value) { errors.emplace_back(value); }},
                max_event) {}

  /// Feeds a copy of exactly this size, gone after the call: a sanitizer sees a stale view.
  void feed(std::string_view bytes) {
    const auto copy = std::make_unique<char[]>(bytes.size());
    bytes.copy(copy.get(), bytes.size());
    parser_.feed({copy.get(), bytes.size()});
  }

  bool failed() const { return parser_.failed(); }

  std::vector<RecordedEvent> events;
  std::vector<std::string> errors;
  int comments = 0;

  bool same_as(const SseRecorder& other) const {
    return events == other.events && errors == other.errors && comments == other.comments &&
           failed() == other.failed();
  }

 private:
  SseParser parser_;
};

}  // namespace llamavisor::http::test
