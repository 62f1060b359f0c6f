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
  /// Older llama-server builds send a failure as a field `error: {...}` without a data line; its
  /// value, else empty. Such a block reports an event only through `SseParser::Handlers::on_error`.
};

/// An incremental parser of the WHATWG event-stream format
/// (https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream):
/// any cut of the same bytes gives the same events. CR, LF and CRLF end a line; one BOM at the very
/// start is dropped. Bytes that are no UTF-8 are kept as they are: JSON decides later.
class SseParser {
 public:
  struct Handlers {
    std::function<void(const SseEvent&)> on_event;
    std::function<void()> on_comment;                         ///< a keep-alive line
    std::function<void(std::string_view value)> on_error_field;  ///< a line `error: ...`
  };

  /// An event larger than `max_event` bytes fails the stream: see `failed()`.
  explicit SseParser(Handlers handlers, std::size_t max_event = 64u << 20);

  /// Takes the next bytes. Does nothing after a failure.
  void feed(std::string_view bytes);

  /// The stream was given an event larger than the bound.
  bool failed() const noexcept;

 private:
  Handlers handlers_;
  std::size_t max_event_;
};

}  // namespace llamavisor::http
