/// \file
/// The types of tensors, and the kinds of files that are made of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace llamavisor::gguf {

/// How a type is stored: `block_bytes` for each `block_elements` elements of a row.
/// A type that llama.cpp has dropped has no block.
struct TensorType {
  std::string_view name;
  std::uint32_t block_elements = 0;
  std::uint32_t block_bytes = 0;
};

/// Empty for a number that this list does not know: llama.cpp gains types.
std::optional<TensorType> tensor_type(std::uint32_t number);

/// A file's kind: `general.file_type`.
struct FileType {
  std::string_view name;      ///< "Q4_K_M"
  std::uint32_t main_tensor;  ///< the number of the tensor type that it is mostly made of
};

std::optional<FileType> file_type(std::uint64_t number);

}  // namespace llamavisor::gguf
