#include "gguf/value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>

namespace llamavisor::gguf {
namespace {

struct TypeFacts {
  std::string_view name;
  std::uint64_t size;  ///< bytes; of a text or an array the fewest that it can have
};

constexpr std::array<TypeFacts, 13> facts{{{"u8", 1},
                                           {"i8", 1},
                                           {"u16", 2},
                                           {"i16", 2},
                                           {"u32", 4},
                                           {"i32", 4},
                                           {"f32", 4},
                                           {"bool", 1},
                                           {"string", 8},
                                           {"array", 12},
                                           {"u64", 8},
                                           {"i64", 8},
                                           {"f64", 8}}};

// The format allows arrays of arrays; llama.cpp reads none.
constexpr int max_nesting = 4;
// A number for each layer, and no model has so many.
constexpr std::uint64_t max_numbers = 65536;

const TypeFacts& facts_of(ValueType type) {
  return facts[static_cast<std::size_t>(type)];
}

std::uint64_t not_negative(HeaderReader& reader, std::int64_t number, std::string_view key) {
  if (number < 0) reader.fail(fmt::format("{} is {}", key, number));
  return static_cast<std::uint64_t>(number);
}

std::uint64_t read_integer(HeaderReader& reader, ValueType type, std::string_view key) {
  switch (type) {
    case ValueType::u8: return reader.u8(key);
    case ValueType::u16: return reader.u16(key);
    case ValueType::u32: return reader.u32(key);
    case ValueType::u64: return reader.u64(key);
    case ValueType::i8: return not_negative(reader, static_cast<std::int8_t>(reader.u8(key)), key);
    case ValueType::i16:
      return not_negative(reader, static_cast<std::int16_t>(reader.u16(key)), key);
    case ValueType::i32:
      return not_negative(reader, static_cast<std::int32_t>(reader.u32(key)), key);
    case ValueType::i64:
      return not_negative(reader, static_cast<std::int64_t>(reader.u64(key)), key);
    default:
      reader.fail(fmt::format("{} is of type {}, and should be an integer", key, name(type)));
  }
}

struct ArrayHead {
  ValueType type;
  std::uint64_t length;
};

ArrayHead read_array_head(HeaderReader& reader, std::string_view key) {
  const auto type = read_type(reader, key);
  const auto length = reader.u64(key);
  reader.require(length, facts_of(type).size, fmt::format("the length of {}", key));
  return {type, length};
}

std::uint64_t skip_nested_array(HeaderReader& reader, std::string_view key, int depth) {
  if (depth > max_nesting) reader.fail(fmt::format("{} is nested too deep", key));
  const auto [type, length] = read_array_head(reader, key);
  for (std::uint64_t i = 0; type == ValueType::text && i < length; ++i)
    reader.skip_text(key);
  for (std::uint64_t i = 0; type == ValueType::array && i < length; ++i) {
    skip_nested_array(reader, key, depth + 1);
  }
  if (type != ValueType::text && type != ValueType::array) {
    reader.skip(length * facts_of(type).size, key);
  }
  return length;
}

}  // namespace

ValueType read_type(HeaderReader& reader, std::string_view key) {
  const auto number = reader.u32(key);
  if (number >= facts.size()) {
    reader.fail(fmt::format("{} is of type {}, which does not exist", key, number));
  }
  return static_cast<ValueType>(number);
}

std::string_view name(ValueType type) noexcept {
  return facts_of(type).name;
}

std::uint64_t read_number(HeaderReader& reader, ValueType type, std::string_view key) {
  if (type != ValueType::array) return read_integer(reader, type, key);
  const auto head = read_array_head(reader, key);
  if (head.length > max_numbers) {
    reader.fail(fmt::format("{} cannot have {} numbers", key, head.length));
  }
  std::uint64_t largest = 0;
  for (std::uint64_t i = 0; i < head.length; ++i) {
    largest = std::max(largest, read_integer(reader, head.type, key));
  }
  return largest;
}

std::uint64_t skip_array(HeaderReader& reader, std::string_view key) {
  return skip_nested_array(reader, key, 1);
}

void skip_value(HeaderReader& reader, ValueType type, std::string_view key) {
  if (type == ValueType::array) {
    skip_array(reader, key);
  } else if (type == ValueType::text) {
    reader.skip_text(key);
  } else {
    reader.skip(facts_of(type).size, key);
  }
}

}  // namespace llamavisor::gguf
