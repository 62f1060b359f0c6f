/// \file
/// A GGUF header from bytes.
#pragma once

#include <llamavisor/gguf.hpp>

#include "gguf/byte_source.hpp"
#include "gguf/tensors.hpp"

#include <cstdint>
#include <optional>

namespace llamavisor::gguf {

/// A header's facts, and what the quantisation of a model in several files is found from.
struct Header {
  GgufInfo info{};
  TensorSums tensors{};
  std::optional<std::uint64_t> file_type{};
};

/// Pure: the same bytes give the same values, or the same `Error` (`invalid_model`). Memory is
/// bounded by some 32 MiB, and time by a header of 1 GiB, whatever the bytes claim.
Header parse_gguf(ByteSource& source);

}  // namespace llamavisor::gguf
