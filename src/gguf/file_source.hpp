/// \file
/// A GGUF file on disk.
#pragma once

#include "gguf/byte_source.hpp"

#include <filesystem>
#include <fstream>

namespace llamavisor::gguf {

class FileSource final : public ByteSource {
 public:
  /// Throws `Error` (`model_not_found`) for what is no regular file, or cannot be opened.
  explicit FileSource(const std::filesystem::path& file);

  std::uint64_t size() const override { return size_; }
  std::size_t read_at(std::uint64_t offset, char* out, std::size_t size) override;

 private:
  std::ifstream in_;
  std::uint64_t size_ = 0;
};

}  // namespace llamavisor::gguf
