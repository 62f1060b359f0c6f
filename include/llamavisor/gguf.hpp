/// \file
/// What a GGUF model file says of itself, read from its header alone.
/// Format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace llamavisor {

/// What a GGUF file holds.
enum class ModelKind {
  text,        ///< a language model
  projector,   ///< what makes one see or hear ("mmproj"): for `LoadOptions::projector`
  adapter,     ///< changes to one (LoRA): for `LoadOptions::adapters`
  vocabulary,  ///< a tokenizer without weights
  other        ///< an importance matrix, a control vector, a model without a tokenizer, ...
};

/// "text", "projector", ... Never throws.
std::string_view name(ModelKind kind) noexcept;

/// The header's facts. Zero or empty where the file does not say.
struct GgufInfo {
  std::uint32_t version = 0;  ///< 2 or 3
  std::uint64_t tensor_count = 0;
  std::string architecture{};  ///< "llama", ...
  std::string name{};
  std::string quantisation{};        ///< "Q4_K_M", ...: as the file says, where its tensors bear
                                     ///< it out; else the type of most of their bytes
  std::uint32_t context_length = 0;  ///< tokens, as trained
  std::uint32_t layers = 0;
  std::uint32_t hidden_size = 0;
  std::uint32_t heads = 0;
  std::uint32_t kv_heads = 0;    ///< as `heads` where the file does not say
  std::uint32_t vocabulary = 0;  ///< tokens
  std::uint32_t sliding_window = 0;
  bool recurrent = false;        ///< keeps a state (Mamba, RWKV, ...), which cannot be cut back
  std::uint64_t parameters = 0;  ///< elements of all tensors
  std::uint64_t file_size = 0;   ///< bytes
  std::string tokenizer{};       ///< "gpt2", "llama", ...
  std::string chat_template{};   ///< Jinja; empty = the model has none
  ModelKind kind = ModelKind::other;
  std::string size_label{};    ///< "8B", "8x7B", ...: as whoever made the file calls its size
  std::string adapter_type{};  ///< of an adapter: "lora"
  std::uint32_t part = 1;      ///< of a model that is split into several files: which one this is,
  std::uint32_t parts = 1;     ///< and how many there are
};

/// Reads the header of one GGUF file, version 2 or 3, little-endian; never the weights. Memory is
/// bounded whatever the file claims. Throws `Error`: `model_not_found` (cannot be opened, or not a
/// file), `invalid_model` (another format, version 1, big-endian, truncated, or numbers that
/// cannot be true). Any thread.
GgufInfo read_gguf(const std::filesystem::path& file);

}  // namespace llamavisor
