#include "added_files.hpp"

#include "unit/gguf/gguf_writer.hpp"

#include <bit>
#include <functional>
#include <numeric>
#include <random>
#include <vector>

namespace llamavisor::contract {
namespace {

using namespace gguf::test;

constexpr std::uint64_t layers = 2, feed_forward = 128;

GgufWriter& number(GgufWriter& writer, std::string_view key, float value) {
  return writer.key(key, type_f32, Bytes().u32(std::bit_cast<std::uint32_t>(value)));
}

GgufWriter& numbers(GgufWriter& writer, std::string_view key, const std::vector<float>& values) {
  Bytes list;
  list.u32(type_f32).u64(values.size());
  for (const float value : values)
    list.u32(std::bit_cast<std::uint32_t>(value));
  return writer.key(key, type_array, list);
}

/// Adds tensors of weights from -range to +range, the same on every machine.
class Weights {
 public:
  Weights(GgufWriter& writer, float range) : writer_(writer), range_(range) {}

  void add(const std::string& name, const std::vector<std::uint64_t>& dimensions) {
    const auto count = std::accumulate(dimensions.begin(), dimensions.end(), std::uint64_t{1},
                                       std::multiplies<>());
    Bytes data;
    for (std::uint64_t at = 0; at < count; ++at) {
      const auto draw = static_cast<float>(random_() % 65536) / 32768 - 1;
      data.u32(std::bit_cast<std::uint32_t>(draw * range_));
    }
    writer_.tensor({name, dimensions, 0, count * 4, data.str()});
  }

  /// A matrix and what is added to its products.
  void add_affine(const std::string& name, std::uint64_t in, std::uint64_t out) {
    add(name + ".weight", {in, out});
    add(name + ".bias", {out});
  }

  void add_norm(const std::string& name, std::uint64_t width) {
    add(name + ".weight", {width});
    add(name + ".bias", {width});
  }

 private:
  GgufWriter& writer_;
  float range_;
  std::mt19937 random_{7};
};

}  // namespace

std::string adapter_bytes(std::uint64_t width) {
  constexpr std::uint64_t rank = 4;
  auto writer = small_adapter("llama");
  number(writer, "adapter.lora.alpha", 8);
  Weights weights(writer, 0.5F);
  for (std::uint64_t layer = 0; layer < layers; ++layer) {
    const auto block = "blk." + std::to_string(layer);
    weights.add(block + ".attn_q.weight.lora_a", {width, rank});
    weights.add(block + ".attn_q.weight.lora_b", {rank, width});
    weights.add(block + ".ffn_down.weight.lora_a", {feed_forward, rank});
    weights.add(block + ".ffn_down.weight.lora_b", {rank, width});
  }
  return writer.str();
}

std::string projector_bytes(std::uint64_t width) {
  constexpr std::uint64_t inner = 16, hidden = 32, patch = 8, image = 16;
  constexpr std::uint64_t places = (image / patch) * (image / patch) + 1;
  const auto u32 = [](std::uint64_t value) { return static_cast<std::uint32_t>(value); };
  auto writer = small_projector();
  writer.key("clip.has_vision_encoder", type_bool, Bytes().u8(1))
      .key("clip.projector_type", "mlp")
      .key("clip.use_gelu", type_bool, Bytes().u8(1))
      .key("clip.vision.image_size", u32(image))
      .key("clip.vision.patch_size", u32(patch))
      .key("clip.vision.embedding_length", u32(inner))
      .key("clip.vision.feed_forward_length", u32(hidden))
      .key("clip.vision.projection_dim", u32(width))
      .key("clip.vision.block_count", u32(layers))
      .key("clip.vision.attention.head_count", u32(2));
  number(writer, "clip.vision.attention.layer_norm_epsilon", 1e-5F);
  numbers(writer, "clip.vision.image_mean", {0.5F, 0.5F, 0.5F});
  numbers(writer, "clip.vision.image_std", {0.5F, 0.5F, 0.5F});
  Weights weights(writer, 0.1F);
  weights.add("v.patch_embd.weight", {patch, patch, 3, inner});
  weights.add("v.class_embd", {inner});
  weights.add("v.position_embd.weight", {inner, places});
  weights.add_norm("v.pre_ln", inner);
  for (std::uint64_t layer = 0; layer < layers; ++layer) {
    const auto block = "v.blk." + std::to_string(layer);
    for (const auto* part : {".attn_q", ".attn_k", ".attn_v", ".attn_out"})
      weights.add_affine(block + part, inner, inner);
    weights.add_norm(block + ".ln1", inner);
    weights.add_norm(block + ".ln2", inner);
    weights.add_affine(block + ".ffn_up", inner, hidden);
    weights.add_affine(block + ".ffn_down", hidden, inner);
  }
  weights.add_affine("mm.0", inner, width);
  weights.add_affine("mm.2", width, width);
  return writer.str();
}

}  // namespace llamavisor::contract
