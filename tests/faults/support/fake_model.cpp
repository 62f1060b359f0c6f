#include "fake_model.hpp"

#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string_view>

namespace llamavisor::testing {
namespace {

constexpr std::uint32_t type_u32 = 4, type_string = 8, type_array = 9;
constexpr std::uint32_t tensor_f32 = 0;
constexpr std::uint64_t vocabulary = 1004, width = 4, alignment = 32;

class Writer {
 public:
  template <typename Number>
  void number(Number value) {
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    bytes_.append(bytes, sizeof value);
  }

  void text(std::string_view value) {
    number(std::uint64_t{value.size()});
    bytes_ += value;
  }

  void pair(std::string_view key, std::uint32_t value) {
    begin_pair(key, type_u32);
    number(value);
  }

  void pair(std::string_view key, std::string_view value) {
    begin_pair(key, type_string);
    text(value);
  }

  void begin_pair(std::string_view key, std::uint32_t type) {
    ++pairs_;
    text(key);
    number(type);
  }

  std::uint64_t pairs() const { return pairs_; }
  std::string& bytes() { return bytes_; }

 private:
  std::string bytes_;
  std::uint64_t pairs_ = 0;
};

void write_vocabulary(Writer& out) {
  out.begin_pair("tokenizer.ggml.tokens", type_array);
  out.number(type_string);
  out.number(vocabulary);
  for (std::uint64_t id = 0; id < vocabulary; ++id)
    out.text("t" + std::to_string(id));
}

Writer header_pairs(const FakeModel& model) {
  const auto& name = model.architecture;
  Writer out;
  out.pair("general.architecture", name);
  out.pair("general.name", model.name);
  out.pair("general.file_type", 0U);
  out.pair("general.alignment", static_cast<std::uint32_t>(alignment));
  out.pair(name + ".context_length", model.context_length);
  out.pair(name + ".embedding_length", static_cast<std::uint32_t>(width));
  out.pair(name + ".block_count", 2U);
  out.pair(name + ".feed_forward_length", 8U);
  out.pair(name + ".attention.head_count", 2U);
  out.pair(name + ".attention.head_count_kv", 1U);
  out.pair("tokenizer.ggml.model", "gpt2");
  write_vocabulary(out);
  out.pair("tokenizer.ggml.bos_token_id", 1000U);
  out.pair("tokenizer.ggml.eos_token_id", 1003U);
  if (!model.chat_template.empty()) {
    out.pair("tokenizer.chat_template", std::string_view(model.chat_template));
  }
  return out;
}

}  // namespace

std::string gguf_bytes(const FakeModel& model) {
  auto pairs = header_pairs(model);
  Writer out;
  out.bytes() = "GGUF";
  out.number(std::uint32_t{3});
  out.number(std::uint64_t{1});  // tensors
  out.number(pairs.pairs());
  out.bytes() += pairs.bytes();
  out.text("token_embd.weight");
  out.number(std::uint32_t{2});
  out.number(width);
  out.number(vocabulary);
  out.number(tensor_f32);
  out.number(std::uint64_t{0});  // offset
  out.bytes().resize((out.bytes().size() + alignment - 1) / alignment * alignment);
  out.bytes().append(width * vocabulary * sizeof(float), '\0');
  return std::move(out.bytes());
}

std::filesystem::path write_fake_model(const std::filesystem::path& file, const FakeModel& model) {
  std::ofstream stream(file, std::ios::binary);
  stream << gguf_bytes(model);
  if (!stream.flush()) throw std::runtime_error("cannot write " + file.string());
  return file;
}

}  // namespace llamavisor::testing
