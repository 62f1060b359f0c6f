// Makes GGUF files in memory, right and wrong ones.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace llamavisor::gguf::test {

/// Little-endian bytes, one after the other.
class Bytes {
 public:
  Bytes& u8(std::uint8_t value) { return integer(value, 1); }
  Bytes& u16(std::uint16_t value) { return integer(value, 2); }
  Bytes& u32(std::uint32_t value) { return integer(value, 4); }
  Bytes& u64(std::uint64_t value) { return integer(value, 8); }
  Bytes& raw(std::string_view bytes);
  Bytes& text(std::string_view text) { return u64(text.size()).raw(text); }

  const std::string& str() const { return bytes_; }

 private:
  Bytes& integer(std::uint64_t value, int size);

  std::string bytes_;
};

/// The numbers of the value types in the file.
enum Type : std::uint32_t {
  type_u8,
  type_i8,
  type_u16,
  type_i16,
  type_u32,
  type_i32,
  type_f32,
  type_bool,
  type_text,
  type_array,
  type_u64,
  type_i64,
  type_f64
};

struct Tensor {
  std::string name;
  std::vector<std::uint64_t> dimensions;
  std::uint32_t type = 0;
  std::uint64_t bytes = 0;  ///< of its data
  std::string data{};       ///< zeros behind it, up to `bytes`
};

/// A file under construction. Numbers that are derived can be overridden with false ones.
class GgufWriter {
 public:
  GgufWriter& key(std::string_view key, std::uint32_t type, const Bytes& value);
  GgufWriter& key(std::string_view name, std::string_view value);
  GgufWriter& key(std::string_view name, const char* value) {
    return key(name, std::string_view(value));
  }
  GgufWriter& key(std::string_view name, std::uint32_t value);
  GgufWriter& texts(std::string_view name, const std::vector<std::string>& values);
  GgufWriter& tensor(const Tensor& tensor);

  std::uint32_t version = 3;
  std::uint64_t alignment = 32;
  std::function<void(std::uint64_t& tensors, std::uint64_t& keys)> counts{};
  std::function<std::uint64_t(std::uint64_t)> offset{};

  /// The header and the tensors' data.
  std::string str() const;

 private:
  Bytes keys_;
  std::uint64_t key_count_ = 0;
  std::vector<Tensor> tensors_;
};

/// A small model with all that is asked of a header.
GgufWriter small_model();

/// One part of a model that was split: the first has the model's keys too, and each a tensor.
GgufWriter model_part(std::uint16_t part, std::uint16_t parts);

/// A LoRA adapter, and a projector, without tensors.
GgufWriter small_adapter(std::string_view architecture = "llama");
GgufWriter small_projector();

}  // namespace llamavisor::gguf::test
