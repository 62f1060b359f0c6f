/// \file
/// Reads a GGUF header from front to back: every number and string is checked against what is left
/// of the file before anything is done with it.
#pragma once

#include "gguf/byte_source.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace llamavisor::gguf {

/// Each `what` is named in the message of the error: "the type of 'general.name'".
class HeaderReader {
 public:
  explicit HeaderReader(ByteSource& source) : source_(source) {}

  std::uint8_t u8(std::string_view what);
  std::uint16_t u16(std::string_view what);
  std::uint32_t u32(std::string_view what);
  std::uint64_t u64(std::string_view what);

  /// A length and as many bytes; more than `max_size` cannot be true.
  std::string text(std::size_t max_size, std::string_view what);
  void skip_text(std::string_view what);
  void skip(std::uint64_t size, std::string_view what);

  std::uint64_t offset() const noexcept { return offset_; }
  std::uint64_t left() const noexcept { return source_.size() - offset_; }
  std::uint64_t file_size() const { return source_.size(); }

  /// Fails unless `count` things of at least `size` bytes each can still follow.
  void require(std::uint64_t count, std::uint64_t size, std::string_view what);

  /// Throws `Error` (`invalid_model`): what is wrong, and at which byte.
  [[noreturn]] void fail(const std::string& what) const;

 private:
  void read(char* out, std::size_t size, std::string_view what);
  void advance(std::uint64_t size);
  template <typename Integer>
  Integer integer(std::string_view what);
  [[noreturn]] void fail_truncated(std::uint64_t size, std::string_view what) const;

  ByteSource& source_;
  std::uint64_t offset_ = 0;
  std::vector<char> block_ = std::vector<char>(64 * 1024);
  std::uint64_t block_begin_ = 0;
  std::size_t block_size_ = 0;
};

}  // namespace llamavisor::gguf
