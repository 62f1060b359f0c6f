/// \file
/// A GGUF file in memory.
#pragma once

#include "gguf/byte_source.hpp"

#include <string_view>

namespace llamavisor::gguf {

class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(std::string_view bytes) : bytes_(bytes) {}

  std::uint64_t size() const override { return bytes_.size(); }

  std::size_t read_at(std::uint64_t offset, char* out, std::size_t size) override {
    if (offset >= bytes_.size()) return 0;
    return bytes_.copy(out, size, static_cast<std::size_t>(offset));
  }

 private:
  std::string_view bytes_;
};

}  // namespace llamavisor::gguf
