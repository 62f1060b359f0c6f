/// \file
/// The list of tensors in a GGUF header.
#pragma once

#include "gguf/header_reader.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace llamavisor::gguf {

/// What the list says in sum.
struct TensorSums {
  std::uint64_t elements = 0;
  std::uint64_t data_end = 0;                              ///< offset within the data
  std::map<std::uint32_t, std::uint64_t> bytes_by_type{};  ///< of the types whose size is known
};

/// Fails at once for a number of tensors that no model has.
void check_tensor_count(HeaderReader& reader, std::uint64_t count);

/// Reads `count` entries, and checks each for itself: dimensions, type, size, offset. Throws
/// `Error` (`invalid_model`).
TensorSums read_tensors(HeaderReader& reader, std::uint64_t count, std::uint64_t alignment);

/// "Q4_K_M": the file's own word where its tensors bear it out, else the type that has the most
/// bytes; some tools write a file type that is not true.
std::string quantisation(const TensorSums& sums, std::optional<std::uint64_t> file_type);

}  // namespace llamavisor::gguf
