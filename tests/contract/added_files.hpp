// Files that are loaded with a model, made for the small models of the tests: random weights, but
// nothing about them is a mock.
#pragma once

#include <cstdint>
#include <string>

namespace llamavisor::contract {

/// A LoRA adapter for the small models' queries and feed-forward parts; `width` is theirs, or that
/// of other models.
std::string adapter_bytes(std::uint64_t width = 64);

/// A projector that sees pictures of 16 by 16 points; `width` as above.
std::string projector_bytes(std::uint64_t width = 64);

}  // namespace llamavisor::contract
