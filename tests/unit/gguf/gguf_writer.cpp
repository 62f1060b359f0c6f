#include "gguf_writer.hpp"

namespace llamavisor::gguf::test {
namespace {

std::uint64_t aligned(std::uint64_t size, std::uint64_t alignment) {
  return (size + alignment - 1) / alignment * alignment;
}

}  // namespace

Bytes& Bytes::integer(std::uint64_t value, int size) {
  for (int i = 0; i < size; ++i)
    bytes_.push_back(static_cast<char>(value >> (8 * i)));
  return *this;
}

Bytes& Bytes::raw(std::string_view bytes) {
  bytes_ += bytes;
  return *this;
}

GgufWriter& GgufWriter::key(std::string_view key, std::uint32_t type, const Bytes& value) {
  keys_.text(key).u32(type).raw(value.str());
  ++key_count_;
  return *this;
}

GgufWriter& GgufWriter::key(std::string_view name, std::string_view value) {
  return key(name, type_text, Bytes().text(value));
}

GgufWriter& GgufWriter::key(std::string_view name, std::uint32_t value) {
  return key(name, type_u32, Bytes().u32(value));
}

GgufWriter& GgufWriter::texts(std::string_view name, const std::vector<std::string>& values) {
  Bytes value;
  value.u32(type_text).u64(values.size());
  for (const auto& text : values)
    value.text(text);
  return key(name, type_array, value);
}

GgufWriter& GgufWriter::tensor(const Tensor& tensor) {
  tensors_.push_back(tensor);
  return *this;
}

std::string GgufWriter::str() const {
  std::uint64_t tensor_count = tensors_.size();
  std::uint64_t key_count = key_count_;
  if (counts) counts(tensor_count, key_count);
  Bytes file;
  file.raw("GGUF").u32(version).u64(tensor_count).u64(key_count).raw(keys_.str());
  std::uint64_t data = 0;
  for (const auto& tensor : tensors_) {
    file.text(tensor.name).u32(static_cast<std::uint32_t>(tensor.dimensions.size()));
    for (const auto size : tensor.dimensions)
      file.u64(size);
    file.u32(tensor.type).u64(offset ? offset(data) : data);
    data = aligned(data + tensor.bytes, alignment);
  }
  // As upstream writes it: the data begins aligned, and the last tensor is padded too.
  const auto begin = aligned(file.str().size(), alignment);
  file.raw(std::string(begin - file.str().size(), '\0'));
  for (const auto& tensor : tensors_) {
    file.raw(tensor.data);
    file.raw(std::string(aligned(tensor.bytes, alignment) - tensor.data.size(), '\0'));
  }
  return file.str();
}

GgufWriter small_model() {
  GgufWriter writer;
  writer.key("general.architecture", "llama")
      .key("general.name", "Small 模型")
      .key("general.file_type", 7u)
      .key("llama.context_length", 4096u)
      .key("llama.embedding_length", 64u)
      .key("llama.block_count", 2u)
      .key("llama.attention.head_count", 8u)
      .key("llama.attention.head_count_kv", 4u)
      .key("llama.attention.sliding_window", 1024u)
      .key("llama.rope.freq_base", type_f32, Bytes().u32(0x461C4000))
      .key("tokenizer.ggml.model", "gpt2")
      .texts("tokenizer.ggml.tokens", {"<s>", "</s>", "a", "b", ""})
      .key("tokenizer.ggml.scores", type_array,
           Bytes().u32(type_f32).u64(5).raw(std::string(20, '\0')))
      .key("tokenizer.ggml.add_bos_token", type_bool, Bytes().u8(1))
      .key("tokenizer.chat_template", "{{ messages }}")
      .tensor({"token_embd.weight", {64, 5}, 8, 340})
      .tensor({"blk.0.attn_q.weight", {64, 64}, 8, 4352})
      .tensor({"output_norm.weight", {64}, 0, 256});
  return writer;
}

GgufWriter model_part(std::uint16_t part, std::uint16_t parts) {
  GgufWriter writer;
  if (part == 1) {
    writer.key("general.architecture", "llama")
        .key("general.name", "Split model")
        .key("general.file_type", 7u)
        .key("llama.context_length", 2048u)
        .key("tokenizer.ggml.model", "gpt2")
        .texts("tokenizer.ggml.tokens", {"a", "b"})
        .key("tokenizer.chat_template", "{{ messages }}");
  }
  writer.key("split.no", type_u16, Bytes().u16(part - 1))
      .key("split.count", type_u16, Bytes().u16(parts))
      .key("split.tensors.count", type_i32, Bytes().u32(parts))
      .tensor({"blk." + std::to_string(part) + ".attn_q.weight", {64, 64}, 8, 4352});
  return writer;
}

GgufWriter small_adapter(std::string_view architecture) {
  GgufWriter writer;
  writer.key("general.architecture", architecture)
      .key("general.type", "adapter")
      .key("general.name", "Small adapter")
      .key("adapter.type", "lora");
  return writer;
}

GgufWriter small_projector() {
  GgufWriter writer;
  writer.key("general.architecture", "clip")
      .key("general.type", "mmproj")
      .key("general.name", "Small projector");
  return writer;
}

}  // namespace llamavisor::gguf::test
