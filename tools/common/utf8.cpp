#include "common/utf8.hpp"

#include <cstddef>

namespace llamavisor::cli {

namespace {

/// Bytes of the well-formed character at the start of a text that is not empty; 0 = none is there.
std::size_t first_character(std::string_view text) {
  const auto byte = [&](std::size_t at) {
    return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U;
  };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  unsigned character = lead & (0x7FU >> size);
  for (std::size_t at = 1; at < size; ++at) {
    if ((byte(at) & 0xC0U) != 0x80U) return 0;
    character = character << 6U | (byte(at) & 0x3FU);
  }
  constexpr unsigned smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = character >= 0xD800 && character <= 0xDFFF;
  const bool good =
      lead >= 0xC0 && lead < 0xF8 && character >= smallest[size] && character <= 0x10FFFF;
  return good && !is_surrogate ? size : 0;
}

}  // namespace

std::string to_utf8(std::string_view bytes) {
  std::string text;
  while (!bytes.empty()) {
    const auto size = first_character(bytes);
    text += size == 0 ? std::string_view("\xEF\xBF\xBD") : bytes.substr(0, size);
    bytes.remove_prefix(size == 0 ? 1 : size);
  }
  return text;
}

}  // namespace llamavisor::cli
