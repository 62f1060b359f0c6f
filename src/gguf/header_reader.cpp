#include "gguf/header_reader.hpp"

#include <llamavisor/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>

namespace llamavisor::gguf {
namespace {

// The largest vocabularies take some 30 MB. The bound is one of time: a sparse file of a terabyte
// of empty strings is cheap to make and would be read for hours.
constexpr std::uint64_t max_header = std::uint64_t{1} << 30;

}  // namespace

std::uint8_t HeaderReader::u8(std::string_view what) {
  return integer<std::uint8_t>(what);
}
std::uint16_t HeaderReader::u16(std::string_view what) {
  return integer<std::uint16_t>(what);
}
std::uint32_t HeaderReader::u32(std::string_view what) {
  return integer<std::uint32_t>(what);
}
std::uint64_t HeaderReader::u64(std::string_view what) {
  return integer<std::uint64_t>(what);
}

std::string HeaderReader::text(std::size_t max_size, std::string_view what) {
  const auto size = u64(what);
  if (size > max_header) fail(fmt::format("{} cannot have {} bytes", what, size));
  if (size > left()) fail_truncated(size, what);
  if (size > max_size) fail(fmt::format("{} has {} bytes, and {} at most", what, size, max_size));
  std::string text(static_cast<std::size_t>(size), '\0');
  read(text.data(), text.size(), what);
  return text;
}

void HeaderReader::skip_text(std::string_view what) {
  skip(u64(what), what);
}

void HeaderReader::skip(std::uint64_t size, std::string_view what) {
  if (size > max_header) fail(fmt::format("{} cannot have {} bytes", what, size));
  if (size > left()) fail_truncated(size, what);
  advance(size);
}

void HeaderReader::require(std::uint64_t count, std::uint64_t size, std::string_view what) {
  if (count > max_header / size) fail(fmt::format("{} cannot be {}", what, count));
  if (count * size > left()) fail_truncated(count * size, what);
}

void HeaderReader::fail(const std::string& what) const {
  throw Error(errc::invalid_model, fmt::format("{}, at byte {}", what, offset_));
}

void HeaderReader::fail_truncated(std::uint64_t size, std::string_view what) const {
  throw Error(errc::invalid_model,
              fmt::format("truncated: {} needs {} bytes at byte {}, and the file ends at byte {}; "
                          "download it again",
                          what, size, offset_, source_.size()));
}

void HeaderReader::advance(std::uint64_t size) {
  offset_ += size;
  if (offset_ > max_header) fail("the header is larger than 1 GiB");
}

void HeaderReader::read(char* out, std::size_t size, std::string_view what) {
  if (size > left()) fail_truncated(size, what);
  while (size > 0) {
    if (offset_ < block_begin_ || offset_ >= block_begin_ + block_size_) {
      block_begin_ = offset_;
      block_size_ = source_.read_at(offset_, block_.data(), block_.size());
      if (block_size_ == 0) fail(fmt::format("{} cannot be read", what));
    }
    const auto at = static_cast<std::size_t>(offset_ - block_begin_);
    const auto piece = std::min(size, block_size_ - at);
    std::memcpy(out, block_.data() + at, piece);
    advance(piece);
    out += piece;
    size -= piece;
  }
}

template <typename Integer>
Integer HeaderReader::integer(std::string_view what) {
  static_assert(std::is_unsigned_v<Integer>);
  std::array<char, sizeof(Integer)> bytes;
  read(bytes.data(), bytes.size(), what);
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i > 0; --i) {
    value = value << 8 | static_cast<unsigned char>(bytes[i - 1]);
  }
  return static_cast<Integer>(value);
}

}  // namespace llamavisor::gguf
