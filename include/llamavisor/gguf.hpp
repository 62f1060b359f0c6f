/// \file
/// What a GGUF model file says of itself, read from its header alone.
/// Format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace llamavisor {

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
  std::uint64_t parameters = 0;  ///< elements of all tensors
  std::uint64_t file_size = 0;   ///< bytes
  std::string tokenizer{};       ///< "gpt2", "llama", ...
  std::string chat_template{};   ///< Jinja; empty = the model has none
};

/// Reads the header of a GGUF file, version 2 or 3, little-endian; never the weights. Memory is
/// bounded whatever the file claims. Throws `Error`: `model_not_found` (cannot be opened, or not a
/// file), `invalid_model` (another format, version 1, big-endian, truncated, or numbers that
/// cannot be true). Any thread.
GgufInfo read_gguf(const std::filesystem::path& file);

}  // namespace llamavisor
