// Any bytes, cut anywhere, give what they give whole; an event is never larger than the bound.
#include "http/sse_parser.hpp"
#include "pieces.hpp"

#include <string>

using namespace llamavisor;

namespace {

/// Everything that a parser reports, as one text.
class Log {
 public:
  explicit Log(std::size_t bound)
      : parser_({.on_event =
                     [this, bound](const http::SseEvent& event) {
                       fuzz::require(event.data.size() <= bound);
                       fuzz::require(!event.event.empty());
                       add('e', event.data);
                       add('t', event.event);
                       add('i', event.id);
                     },
                 .on_comment = [this] { add('c', ""); },
                 .on_error_field = [this](std::string_view value) { add('f', value); }},
                bound) {}

  void feed(std::string_view bytes) { parser_.feed(bytes); }
  std::string text() const { return log_ + (parser_.failed() ? "failed" : ""); }

 private:
  void add(char what, std::string_view text) {
    log_ += what + std::to_string(text.size()) + ':';
    log_ += text;
  }

  std::string log_;
  http::SseParser parser_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::Input input(data, size);
  const std::size_t bound = input.choice() == 0 ? 1u << 20 : input.choice();
  Log whole(bound);
  whole.feed(input.bytes());
  Log cut(bound);
  input.cut([&](std::string_view piece) { cut.feed(piece); });
  fuzz::require(cut.text() == whole.text());
  return 0;
}
