#include "http/sse_parser.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace llamavisor::http {
namespace {

constexpr std::string_view bom = "\xEF\xBB\xBF";

/// Finds the next of one byte in a piece of text, and looks at each place once however often it is
/// asked: a stream with bare CRs must not search for its LFs to the very end after each line.
class ByteFinder {
 public:
  ByteFinder(std::string_view text, char byte) : text_(text), byte_(byte) { search(0); }

  std::size_t at_or_after(std::size_t from) {
    if (found_ < from) search(from);
    return found_;
  }

 private:
  void search(std::size_t from) {
    const void* hit = from < text_.size()
                          ? std::memchr(text_.data() + from, byte_, text_.size() - from)
                          : nullptr;
    found_ = hit == nullptr
                 ? text_.size()
                 : static_cast<std::size_t>(static_cast<const char*>(hit) - text_.data());
  }

  std::string_view text_;
  char byte_;
  std::size_t found_ = 0;
};

}  // namespace

SseParser::SseParser(Handlers handlers, std::size_t max_event)
    : handlers_(std::move(handlers)), max_event_(max_event) {}

void SseParser::feed(std::string_view bytes) {
  if (done()) return;
  try {
    if (at_start_) bytes = without_bom(bytes);
    read_lines(bytes);
    if (!done()) own_data();
  } catch (const std::bad_alloc&) {
    failed_ = true;
  }
}

std::string_view SseParser::without_bom(std::string_view bytes) {
  while (!bytes.empty() && bom_seen_ < bom.size() && bytes.front() == bom[bom_seen_]) {
    ++bom_seen_;
    bytes.remove_prefix(1);
  }
  if (bom_seen_ == bom.size()) {
    at_start_ = false;
  } else if (!bytes.empty()) {
    at_start_ = false;  // it only began like one
    keep_cut_line(bom.substr(0, bom_seen_));
  }
  return bytes;
}

void SseParser::read_lines(std::string_view bytes) {
  if (after_cr_ && !bytes.empty()) {
    after_cr_ = false;
    if (bytes.front() == '\n') bytes.remove_prefix(1);
  }
  ByteFinder lf(bytes, '\n');
  ByteFinder cr(bytes, '\r');
  std::size_t begin = 0;
  while (begin < bytes.size() && !done()) {
    const std::size_t end = std::min(lf.at_or_after(begin), cr.at_or_after(begin));
    if (end == bytes.size()) return keep_cut_line(bytes.substr(begin));
    end_line(bytes.substr(begin, end - begin));
    begin = end + 1;
    if (bytes[end] == '\n') continue;
    if (begin == bytes.size()) {
      after_cr_ = true;
    } else if (bytes[begin] == '\n') {
      ++begin;
    }
  }
}

void SseParser::keep_cut_line(std::string_view bytes) {
  if (bytes.empty() || in_comment_) return;
  if (line_.empty() && bytes.front() == ':') {
    in_comment_ = true;
  } else if (fits(line_.size() + bytes.size())) {
    line_.append(bytes);
  }
}

void SseParser::end_line(std::string_view bytes) {
  if (in_comment_) {
    in_comment_ = false;
    if (handlers_.on_comment) handlers_.on_comment();
  } else if (line_.empty()) {
    take_line(bytes);
  } else if (fits(line_.size() + bytes.size())) {
    line_.append(bytes);
    take_line(line_);
    if (viewing_) own_data();
    line_.clear();
  }
}

void SseParser::take_line(std::string_view line) {
  if (line.empty()) return dispatch();
  if (line.front() == ':') {
    if (handlers_.on_comment) handlers_.on_comment();
    return;
  }
  if (!fits(line.size())) return;
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return take_field(line, {});
  std::string_view value = line.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  take_field(line.substr(0, colon), value);
}

void SseParser::take_field(std::string_view name, std::string_view value) {
  if (name == "data") {
    take_data(value);
  } else if (name == "event") {
    event_.assign(value);
  } else if (name == "id") {
    if (value.find('\0') == std::string_view::npos) id_.assign(value);
  } else if (name == "error") {
    if (handlers_.on_error_field) handlers_.on_error_field(value);
  }
  // `retry` is for a browser that reconnects by itself.
}

void SseParser::take_data(std::string_view value) {
  if (!has_data_) {
    has_data_ = true;
    viewing_ = true;
    data_view_ = value;
    return;
  }
  own_data();
  data_.push_back('\n');
  data_.append(value);
}

/// Copies the data out of the fed bytes, which are about to go.
void SseParser::own_data() {
  if (!viewing_) return;
  data_.assign(data_view_);
  viewing_ = false;
}

void SseParser::dispatch() {
  if (has_data_ && handlers_.on_event) {
    handlers_.on_event({.data = viewing_ ? data_view_ : std::string_view(data_),
                        .event = event_.empty() ? std::string_view("message") : event_,
                        .id = id_});
  }
  has_data_ = false;
  viewing_ = false;
  data_.clear();
  event_.clear();
}

/// Whether a line of this size may be kept beside the data so far; the stream fails where not.
bool SseParser::fits(std::size_t line_size) noexcept {
  const std::size_t held = !has_data_ ? 0 : viewing_ ? data_view_.size() : data_.size();
  failed_ = failed_ || held > max_event_ || line_size > max_event_ - held;
  return !failed_;
}

}  // namespace llamavisor::http
