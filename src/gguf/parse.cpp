#include "gguf/parse.hpp"

#include <llamavisor/error.hpp>

#include "gguf/foreign_format.hpp"
#include "gguf/header_reader.hpp"
#include "gguf/metadata.hpp"
#include "gguf/tensors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <string_view>

namespace llamavisor::gguf {
namespace {

constexpr std::string_view magic = "GGUF";

// In a file's name the number has five digits.
constexpr std::uint64_t max_parts = 99'999;

void check_magic(ByteSource& source, HeaderReader& reader) {
  std::array<char, 64> start{};
  const auto size = source.read_at(0, start.data(), start.size());
  const std::string_view seen(start.data(), size);
  if (size < magic.size() ? !magic.starts_with(seen) || size == 0 : !seen.starts_with(magic)) {
    throw Error(errc::invalid_model, "not a GGUF file: " + describe_foreign(seen));
  }
  reader.skip(magic.size(), "the magic number");
}

std::uint32_t read_version(HeaderReader& reader) {
  const auto version = reader.u32("the version");
  if (version == 2 || version == 3) return version;
  if (version == 1) {
    reader.fail("this is GGUF version 1, which llama.cpp no longer reads; convert the model anew");
  }
  if ((version & 0xFFFF) == 0 && version != 0) {
    reader.fail("this is a big-endian GGUF file, made for another kind of machine");
  }
  reader.fail(fmt::format("GGUF version {} is unknown to this version of llamavisor", version));
}

/// The weights themselves are not read; they must be there.
void check_data(HeaderReader& reader, const TensorSums& sums, std::uint64_t alignment) {
  const auto begin = (reader.offset() + alignment - 1) / alignment * alignment;
  const auto file_size = reader.file_size();
  if (sums.data_end == 0 || (begin <= file_size && sums.data_end <= file_size - begin)) return;
  throw Error(errc::invalid_model,
              fmt::format("truncated: the file has {} bytes, and its tensors end at byte {}; "
                          "download it again",
                          file_size, begin + sums.data_end));
}

std::uint32_t vocabulary(const Metadata& metadata) {
  const auto tokens = metadata.tokens();
  return tokens != 0 ? static_cast<std::uint32_t>(tokens)  // bounded by the header's size
                     : metadata.model_number(".vocab_size");
}

/// As llama.cpp's tools mark their files; older ones bear no mark.
ModelKind kind_of(const Metadata& metadata, const GgufInfo& info) {
  const auto& type = metadata.text("general.type");
  if (type == "adapter") return ModelKind::adapter;
  if (type == "mmproj" || info.architecture == "clip") return ModelKind::projector;
  if (!type.empty() && type != "model") return ModelKind::other;
  if (info.tokenizer.empty()) return ModelKind::other;
  // The first of several parts may hold no weights.
  return info.tensor_count == 0 && info.parts == 1 ? ModelKind::vocabulary : ModelKind::text;
}

/// Splits are numbered from 0 in the file, and from 1 in its name.
void read_split(HeaderReader& reader, const Metadata& metadata, GgufInfo& info) {
  const auto count = metadata.number("split.count").value_or(0);
  const auto number = metadata.number("split.no").value_or(0);
  if (count <= 1) return;
  if (count > max_parts || number >= count) {
    reader.fail(fmt::format("this cannot be part {} of {}", number, count));
  }
  info.part = static_cast<std::uint32_t>(number) + 1;
  info.parts = static_cast<std::uint32_t>(count);
}

}  // namespace

Header parse_gguf(ByteSource& source) {
  HeaderReader reader(source);
  check_magic(source, reader);
  Header header;
  auto& info = header.info;
  info.version = read_version(reader);
  info.tensor_count = reader.u64("the number of tensors");
  check_tensor_count(reader, info.tensor_count);
  const auto pairs = reader.u64("the number of keys");
  const auto metadata = Metadata::read(reader, pairs);
  header.tensors = read_tensors(reader, info.tensor_count, metadata.alignment());
  check_data(reader, header.tensors, metadata.alignment());

  info.architecture = metadata.architecture();
  info.name = metadata.text("general.name");
  info.tokenizer = metadata.text("tokenizer.ggml.model");
  info.chat_template = metadata.text("tokenizer.chat_template");
  header.file_type = metadata.number("general.file_type");
  info.quantisation = quantisation(header.tensors, header.file_type);
  info.context_length = metadata.model_number(".context_length");
  info.layers = metadata.model_number(".block_count");
  info.hidden_size = metadata.model_number(".embedding_length");
  info.heads = metadata.model_number(".attention.head_count");
  info.kv_heads = metadata.model_number(".attention.head_count_kv");
  if (info.kv_heads == 0) info.kv_heads = info.heads;
  info.sliding_window = metadata.model_number(".attention.sliding_window");
  info.recurrent =
      metadata.model_number(".ssm.state_size") != 0 || metadata.model_number(".wkv.head_size") != 0;
  info.vocabulary = vocabulary(metadata);
  info.parameters = header.tensors.elements;
  info.file_size = source.size();
  info.size_label = metadata.text("general.size_label");
  info.adapter_type = metadata.text("adapter.type");
  read_split(reader, metadata, info);
  info.kind = kind_of(metadata, info);
  return header;
}

}  // namespace llamavisor::gguf
