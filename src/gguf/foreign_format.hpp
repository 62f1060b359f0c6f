/// \file
/// What a file is that is no GGUF file.
#pragma once

#include <string>
#include <string_view>

namespace llamavisor::gguf {

/// In words, from its first bytes (64 are enough): the usual mistakes and failed downloads.
std::string describe_foreign(std::string_view start);

}  // namespace llamavisor::gguf
