#include "server/server_call.hpp"

#include <fmt/format.h>

#include <cstddef>

namespace llamavisor::server {

namespace {

/// Length of the character at the start of a text, which is not empty; 0 where there is none.
/// Well-formed byte sequences: The Unicode Standard, table 3-7.
std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t index) {
    return index < text.size() ? static_cast<unsigned char>(text[index]) : 0U;
  };
  const auto follows = [&](std::size_t index, unsigned low = 0x80, unsigned high = 0xBF) {
    return byte(index) >= low && byte(index) <= high;
  };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return follows(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const unsigned low = first == 0xE0 ? 0xA0 : 0x80;
    const unsigned high = first == 0xED ? 0x9F : 0xBF;  // no surrogates
    return follows(1, low, high) && follows(2) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const unsigned low = first == 0xF0 ? 0x90 : 0x80;
    const unsigned high = first == 0xF4 ? 0x8F : 0xBF;  // none above U+10FFFF
    return follows(1, low, high) && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

}  // namespace

void require_utf8(std::string_view text, std::string_view what) {
  for (std::size_t at = 0; at < text.size();) {
    const auto length = character_length(text.substr(at));
    if (length == 0) {
      throw Error(errc::invalid_option,
                  fmt::format("{} is not UTF-8 at byte {}: convert it before", what, at));
    }
    at += length;
  }
}

}  // namespace llamavisor::server
