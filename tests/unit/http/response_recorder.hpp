// What a ResponseReader reported, kept as values that can be compared.
#pragma once

#include "http/response_reader.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace llamavisor::http::test {

class ResponseRecorder {
 public:
  using State = ResponseReader::State;

  /// Feeds a copy of exactly this size, gone after the call: a sanitizer sees a stale view.
  State feed(std::string_view bytes) {
    const auto copy = std::make_unique<char[]>(bytes.size());
    bytes.copy(copy.get(), bytes.size());
    return reader_.feed({copy.get(), bytes.size()});
  }

  State feed_byte_by_byte(std::string_view bytes) {
    for (const char byte : bytes)
      feed({&byte, 1});
    return state();
  }

  State end_of_stream() { return reader_.end_of_stream(); }
  State state() const { return reader_.state(); }
  std::string detail() const { return std::string(reader_.detail()); }

  int heads = 0;
  int status = 0;
  std::string type;
  std::string body;

  bool same_as(const ResponseRecorder& other) const {
    return heads == other.heads && status == other.status && type == other.type &&
           body == other.body && state() == other.state();
  }

 private:
  ResponseReader reader_{{.on_head =
                              [this](int code, std::string_view content_type) {
                                ++heads;
                                status = code;
                                type = content_type;
                              },
                          .on_body = [this](std::string_view bytes) { body += bytes; }}};
};

}  // namespace llamavisor::http::test
