/// \file
/// A GGUF header from bytes.
#pragma once

#include <llamavisor/gguf.hpp>

#include "gguf/byte_source.hpp"

namespace llamavisor::gguf {

/// Pure: the same bytes give the same values, or the same `Error` (`invalid_model`). Memory is
/// bounded by some 32 MiB, and time by a header of 1 GiB, whatever the bytes claim.
GgufInfo parse_gguf(ByteSource& source);

}  // namespace llamavisor::gguf
