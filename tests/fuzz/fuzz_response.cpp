// Any bytes, cut anywhere, are complete with the same body or not at all. A cut may only put off
// the moment at which bytes turn out to be malformed.
#include "http/response_reader.hpp"
#include "pieces.hpp"

#include <string>

using namespace llamavisor;
using State = http::ResponseReader::State;

namespace {

class Log {
 public:
  State feed(std::string_view bytes) { return reader_.feed(bytes); }
  State end() { return reader_.end_of_stream(); }

  std::string head;
  std::string body;

 private:
  http::ResponseReader reader_{{.on_head =
                                    [this](int status, std::string_view type) {
                                      fuzz::require(head.empty() && body.empty());
                                      fuzz::require(status >= 200);
                                      head = std::to_string(status) + ' ' + std::string(type);
                                    },
                                .on_body =
                                    [this](std::string_view bytes) {
                                      fuzz::require(!head.empty() && !bytes.empty());
                                      body += bytes;
                                    }}};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::Input input(data, size);
  Log whole;
  whole.feed(input.bytes());
  const auto whole_end = whole.end();
  Log cut;
  input.cut([&](std::string_view piece) { cut.feed(piece); });
  const auto cut_end = cut.end();
  fuzz::require(whole_end != State::open && cut_end != State::open);
  fuzz::require((whole_end == State::complete) == (cut_end == State::complete));
  if (whole_end == State::complete) {
    fuzz::require(cut.head == whole.head);
    fuzz::require(cut.body == whole.body);
  }
  return 0;
}
