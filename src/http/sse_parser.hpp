/// \file
/// Server-sent events from bytes. Sans-IO.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace llamavisor::http {

/// One event. The views live until the call-back returns.
struct SseEvent {
  std::string_view data;
  std::string_view event;  ///< "message" where the stream names none
  std::string_view id;     ///< the last one named, also by an earlier event
};

/// An incremental parser of the WHATWG event-stream format
/// (https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream):
/// any cut of the same bytes gives the same events. CR, LF and CRLF end a line; one BOM at the very
/// start is dropped; a block without a blank line after it is no event. Bytes that are no UTF-8 are
/// kept as they are: JSON decides later.
///
/// An event that lies whole in one piece of bytes is reported from where it lies, without a copy.
/// Throws nothing of its own; no call-back may destroy or feed the parser that calls it.
class SseParser {
 public:
  struct Handlers {
    std::function<void(const SseEvent&)> on_event{};
    std::function<void()> on_comment{};  ///< a keep-alive line
    /// A line `error: ...`: older llama-server builds report a failure so, without a data line,
    /// so that no event comes of it. Called when the line is complete.
    std::function<void(std::string_view value)> on_error_field{};
  };

  /// The stream fails when one event's data and the line being read need more than `max_event`
  /// bytes together. Comments are dropped as they come, and may be of any length.
  explicit SseParser(Handlers handlers, std::size_t max_event = 64u << 20);

  /// Takes the next bytes. Does nothing after a failure or `stop()`.
  void feed(std::string_view bytes);

  /// No call-back comes any more, also of what has been fed already. From a call-back as well.
  void stop() noexcept { stopped_ = true; }

  /// The stream held an event larger than the bound.
  bool failed() const noexcept { return failed_; }

 private:
  std::string_view without_bom(std::string_view bytes);
  void read_lines(std::string_view bytes);
  void keep_cut_line(std::string_view bytes);
  void end_line(std::string_view bytes);
  void take_line(std::string_view line);
  void take_field(std::string_view name, std::string_view value);
  void take_data(std::string_view value);
  void own_data();
  void dispatch();
  bool fits(std::size_t line_size) noexcept;
  bool done() const noexcept { return stopped_ || failed_; }

  Handlers handlers_;
  std::size_t max_event_;
  std::string line_;            // the start of a line whose end has not come yet
  std::string_view data_view_;  // the only data line so far, while it still lies in the fed bytes
  std::string data_;            // else all data lines so far
  std::string event_;
  std::string id_;
  std::size_t bom_seen_ = 0;  // bytes of the BOM matched at the very start
  bool at_start_ = true;
  bool after_cr_ = false;
  bool in_comment_ = false;  // of a cut line: it is a comment, and `line_` stays empty
  bool has_data_ = false;
  bool viewing_ = false;
  bool stopped_ = false;
  bool failed_ = false;
};

}  // namespace llamavisor::http
