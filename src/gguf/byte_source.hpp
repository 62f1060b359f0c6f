/// \file
/// Where the bytes of a GGUF file come from: a file, or memory in tests.
#pragma once

#include <cstddef>
#include <cstdint>

namespace llamavisor::gguf {

class ByteSource {
 public:
  virtual ~ByteSource() = default;

  virtual std::uint64_t size() const = 0;

  /// Copies up to `size` bytes from `offset` on; returns how many. Fewer come at the end, and where
  /// the file cannot be read or has become shorter.
  virtual std::size_t read_at(std::uint64_t offset, char* out, std::size_t size) = 0;
};

}  // namespace llamavisor::gguf
