#include "gguf/tensors.hpp"

#include "gguf/tensor_types.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <limits>
#include <unordered_set>

namespace llamavisor::gguf {
namespace {

constexpr std::uint64_t max_tensors = 262'144;
constexpr std::uint64_t smallest_entry = 8 + 4 + 4 + 8;
constexpr std::size_t max_name = 64;         // the format's bound
constexpr std::uint32_t max_dimensions = 4;  // GGML_MAX_DIMS
constexpr std::uint32_t max_type = 1023;     // leaves room for types to come
constexpr std::uint64_t max_size = std::numeric_limits<std::int64_t>::max();

std::uint64_t product(HeaderReader& reader, std::uint64_t a, std::uint64_t b,
                      const std::string& name) {
  if (b != 0 && a > max_size / b)
    reader.fail(fmt::format("the tensor {} cannot be so large", name));
  return a * b;
}

std::uint64_t sum(HeaderReader& reader, std::uint64_t a, std::uint64_t b, const char* what) {
  if (b > max_size || a > max_size - b) reader.fail(fmt::format("{} cannot be so large", what));
  return a + b;
}

std::string quoted(std::string name) {
  for (char& c : name) {
    if (c < ' ' || c > '~') c = '?';
  }
  return "'" + name + "'";
}

struct Shape {
  std::uint64_t row = 1;
  std::uint64_t elements = 1;
};

Shape read_shape(HeaderReader& reader, const std::string& name) {
  const auto dimensions = reader.u32("a tensor's number of dimensions");
  if (dimensions > max_dimensions) {
    reader.fail(fmt::format("the tensor {} cannot have {} dimensions", name, dimensions));
  }
  Shape shape;
  for (std::uint32_t i = 0; i < dimensions; ++i) {
    const auto size = reader.u64("a tensor's dimension");
    if (i == 0) shape.row = size;
    shape.elements = product(reader, shape.elements, size, name);
  }
  return shape;
}

/// In bytes; none where this version does not know the type.
std::optional<std::uint64_t> size_of(HeaderReader& reader, const std::string& name, Shape shape,
                                     std::uint32_t number) {
  if (number > max_type) {
    reader.fail(fmt::format("the tensor {} is of type {}, which cannot exist", name, number));
  }
  const auto type = tensor_type(number);
  if (!type) return std::nullopt;
  if (type->block_elements == 0) {
    reader.fail(
        fmt::format("the tensor {} is of type {}, which llama.cpp no longer reads; get the "
                    "model in another quantisation",
                    name, type->name));
  }
  if (shape.row % type->block_elements != 0) {
    reader.fail(
        fmt::format("the tensor {} has rows of {} elements, and its type {} takes blocks of "
                    "{}",
                    name, shape.row, type->name, type->block_elements));
  }
  return product(reader, shape.elements / type->block_elements, type->block_bytes, name);
}

}  // namespace

void check_tensor_count(HeaderReader& reader, std::uint64_t count) {
  if (count > max_tensors) reader.fail(fmt::format("the file cannot have {} tensors", count));
}

TensorSums read_tensors(HeaderReader& reader, std::uint64_t count, std::uint64_t alignment) {
  reader.require(count, smallest_entry, "the list of tensors");
  TensorSums sums;
  std::unordered_set<std::size_t> seen;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto bare_name = reader.text(max_name, "a tensor's name");
    const auto name = quoted(bare_name);
    if (!seen.insert(std::hash<std::string>{}(bare_name)).second) {
      reader.fail(fmt::format("the tensor {} comes twice", name));
    }
    const auto shape = read_shape(reader, name);
    const auto type = reader.u32("a tensor's type");
    const auto size = size_of(reader, name, shape, type);
    const auto offset = reader.u64("a tensor's offset");
    if (offset % alignment != 0) {
      reader.fail(fmt::format("the tensor {} lies at {}, which is no multiple of {}", name, offset,
                              alignment));
    }
    sums.elements = sum(reader, sums.elements, shape.elements, "the model");
    sums.data_end = std::max(sums.data_end, sum(reader, size.value_or(0), offset, "the model"));
    if (size) {
      auto& bytes = sums.bytes_by_type[type];
      bytes = sum(reader, bytes, *size, "the model");
    }
  }
  return sums;
}

std::string quantisation(const TensorSums& sums, std::optional<std::uint64_t> number) {
  constexpr std::uint64_t guessed = 1024;  // a flag in the number
  const auto declared = file_type(number.value_or(guessed) & ~guessed);
  const bool says = number.has_value() && declared.has_value();
  double total = 0;
  for (const auto& [type, bytes] : sums.bytes_by_type)
    total += static_cast<double>(bytes);
  if (total == 0) return says ? std::string(declared->name) : "";
  if (says) {
    const auto found = sums.bytes_by_type.find(declared->main_tensor);
    const bool borne_out =
        found != sums.bytes_by_type.end() && static_cast<double>(found->second) >= total / 4;
    if (borne_out) return std::string(declared->name);
  }
  const auto most = std::max_element(sums.bytes_by_type.begin(), sums.bytes_by_type.end(),
                                     [](auto& a, auto& b) { return a.second < b.second; });
  return std::string(tensor_type(most->first)->name);
}

}  // namespace llamavisor::gguf
