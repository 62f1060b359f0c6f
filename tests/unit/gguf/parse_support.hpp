// Parsing bytes, and what must come of it.
#pragma once

#include <llamavisor/error.hpp>
#include <llamavisor/gguf.hpp>

#include "gguf/memory_source.hpp"
#include "gguf/parse.hpp"

#include <cstring>
#include <memory>
#include <string>
#include <string_view>

namespace llamavisor::gguf::test {

inline GgufInfo parse(std::string_view bytes) {
  // A copy of exactly this size: a sanitizer sees a read beyond it.
  const auto copy = std::make_unique<char[]>(bytes.size());
  bytes.copy(copy.get(), bytes.size());
  MemorySource source({copy.get(), bytes.size()});
  return parse_gguf(source).info;
}

/// The message of the `invalid_model` error; else what happened instead.
inline std::string why_invalid(std::string_view bytes) {
  try {
    parse(bytes);
  } catch (const Error& error) {
    return error.code() == errc::invalid_model ? error.what() : "another code";
  }
  return "no error";
}

inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace llamavisor::gguf::test
