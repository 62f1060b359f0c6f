/// \file
/// The keys and values of a GGUF header.
/// Format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
#pragma once

#include "gguf/header_reader.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace llamavisor::gguf {

/// What we want to know of them. All else is skipped, and never held in memory.
class Metadata {
 public:
  /// Reads `count` pairs. Throws `Error` (`invalid_model`).
  static Metadata read(HeaderReader& reader, std::uint64_t count);

  /// Empty where the file does not say.
  const std::string& architecture() const { return text("general.architecture"); }
  const std::string& text(std::string_view key) const;

  std::optional<std::uint64_t> number(std::string_view key) const;

  /// Of the model's own architecture: `suffix` is ".context_length". Throws `Error`
  /// (`invalid_model`) where it is no number of 32 bits.
  std::uint32_t model_number(std::string_view suffix) const;

  std::uint64_t tokens() const { return tokens_; }  ///< length of the vocabulary's array

  /// Of the tensor data: a power of two, 32 where the file does not say.
  std::uint64_t alignment() const { return number("general.alignment").value_or(32); }

 private:
  void read_pair(HeaderReader& reader, const std::string& key);

  std::map<std::string, std::string, std::less<>> texts_;
  std::map<std::string, std::uint64_t, std::less<>> numbers_;
  std::uint64_t tokens_ = 0;
};

}  // namespace llamavisor::gguf
