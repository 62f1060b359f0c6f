/// \file
/// One value of a GGUF header's metadata.
#pragma once

#include "gguf/header_reader.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace llamavisor::gguf {

/// The types by their numbers in the file. Below, `key` is what messages call the value.
enum class ValueType : std::uint32_t {
  u8,
  i8,
  u16,
  i16,
  u32,
  i32,
  f32,
  boolean,
  text,
  array,
  u64,
  i64,
  f64
};

/// The next four bytes as a type; fails for a number that is none.
ValueType read_type(HeaderReader& reader, std::string_view key);

std::string_view name(ValueType type) noexcept;

/// An integer that is not negative. Of an array of them (a number for each layer) the largest.
std::uint64_t read_number(HeaderReader& reader, ValueType type, std::string_view key);

/// Skips an array, whatever it holds, in bounded memory; returns its length.
std::uint64_t skip_array(HeaderReader& reader, std::string_view key);

void skip_value(HeaderReader& reader, ValueType type, std::string_view key);

}  // namespace llamavisor::gguf
