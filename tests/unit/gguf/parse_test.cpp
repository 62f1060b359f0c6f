#include "catch.hpp"
#include "gguf_writer.hpp"
#include "parse_support.hpp"

#include <cstdint>
#include <string>
#include <vector>

using namespace llamavisor;
using namespace llamavisor::gguf::test;

TEST_CASE("a header's facts are read", "[gguf]") {
  const auto version = GENERATE(2u, 3u);
  auto writer = small_model();
  writer.version = version;
  const auto bytes = writer.str();
  const auto info = parse(bytes);
  CHECK(info.version == version);
  CHECK(info.tensor_count == 3);
  CHECK(info.architecture == "llama");
  CHECK(info.name == "Small 模型");
  CHECK(info.quantisation == "Q8_0");
  CHECK(info.context_length == 4096);
  CHECK(info.layers == 2);
  CHECK(info.hidden_size == 64);
  CHECK(info.heads == 8);
  CHECK(info.kv_heads == 4);
  CHECK(info.vocabulary == 5);
  CHECK(info.sliding_window == 1024);
  CHECK(info.parameters == 64 * 5 + 64 * 64 + 64);
  CHECK(info.file_size == bytes.size());
  CHECK(info.tokenizer == "gpt2");
  CHECK(info.chat_template == "{{ messages }}");
}

TEST_CASE("what a file does not say is zero or empty", "[gguf]") {
  const auto info = parse(GgufWriter().str());
  CHECK(info.version == 3);
  CHECK(info.tensor_count == 0);
  CHECK(info.architecture.empty());
  CHECK(info.quantisation.empty());
  CHECK(info.context_length == 0);
  CHECK(info.heads == 0);
  CHECK(info.kv_heads == 0);
  CHECK(info.vocabulary == 0);
  CHECK(info.parameters == 0);
  CHECK(info.chat_template.empty());
}

TEST_CASE("the architecture may come after what it names", "[gguf]") {
  GgufWriter writer;
  writer.key("other.context_length", 1u)
      .key("qwen3.context_length", 40960u)
      .key("qwen3.attention.head_count", 16u)
      .key("general.architecture", "qwen3");
  const auto info = parse(writer.str());
  CHECK(info.context_length == 40960);
  CHECK(info.heads == 16);
  CHECK(info.kv_heads == 16);
}

TEST_CASE("any kind of integer will do for a number", "[gguf]") {
  GgufWriter writer;
  writer.key("general.architecture", "a")
      .key("a.context_length", type_u64, Bytes().u64(131072))
      .key("a.embedding_length", type_i32, Bytes().u32(2048))
      .key("a.block_count", type_u8, Bytes().u8(200))
      .key("a.attention.head_count", type_u16, Bytes().u16(40000))
      .key("a.attention.head_count_kv", type_i16, Bytes().u16(9))
      .key("a.attention.sliding_window", type_i64, Bytes().u64(512))
      .key("a.vocab_size", type_i8, Bytes().u8(127));
  const auto info = parse(writer.str());
  CHECK(info.context_length == 131072);
  CHECK(info.hidden_size == 2048);
  CHECK(info.layers == 200);
  CHECK(info.heads == 40000);
  CHECK(info.kv_heads == 9);
  CHECK(info.sliding_window == 512);
  CHECK(info.vocabulary == 127);
}

TEST_CASE("of a number for each layer the largest counts", "[gguf]") {
  GgufWriter writer;
  writer.key("general.architecture", "openelm")
      .key("openelm.attention.head_count", type_array,
           Bytes().u32(type_i32).u64(3).u32(12).u32(20).u32(16))
      .key("openelm.attention.head_count_kv", type_array, Bytes().u32(type_u32).u64(0));
  const auto info = parse(writer.str());
  CHECK(info.heads == 20);
  CHECK(info.kv_heads == 20);
}

TEST_CASE("values of every type are passed over", "[gguf]") {
  GgufWriter writer;
  writer.key("x.u8", type_u8, Bytes().u8(1))
      .key("x.i8", type_i8, Bytes().u8(255))
      .key("x.u16", type_u16, Bytes().u16(1))
      .key("x.i16", type_i16, Bytes().u16(1))
      .key("x.u32", type_u32, Bytes().u32(1))
      .key("x.i32", type_i32, Bytes().u32(1))
      .key("x.f32", type_f32, Bytes().u32(1))
      .key("x.bool", type_bool, Bytes().u8(7))
      .key("x.text", "text")
      .key("x.u64", type_u64, Bytes().u64(1))
      .key("x.i64", type_i64, Bytes().u64(1))
      .key("x.f64", type_f64, Bytes().u64(1))
      .key("x.bytes", type_array, Bytes().u32(type_u8).u64(3).raw("abc"))
      .key("x.doubles", type_array, Bytes().u32(type_f64).u64(2).u64(1).u64(2))
      .texts("x.texts", {"", "a", "bc"})
      .key("x.arrays", type_array,
           Bytes()
               .u32(type_array)
               .u64(2)
               .u32(type_u8)
               .u64(1)
               .u8(1)
               .u32(type_text)
               .u64(1)
               .text("deep"))
      .key("general.name", "after all of them");
  CHECK(parse(writer.str()).name == "after all of them");
}

TEST_CASE("a large vocabulary is counted", "[gguf]") {
  const std::vector<std::string> tokens(200'000, "token");
  GgufWriter writer;
  writer.texts("tokenizer.ggml.tokens", tokens).key("general.name", "behind it");
  const auto info = parse(writer.str());
  CHECK(info.vocabulary == 200'000);
  CHECK(info.name == "behind it");
}

TEST_CASE("another alignment holds for the data", "[gguf]") {
  GgufWriter writer;
  writer.alignment = 256;
  writer.key("general.alignment", 256u).tensor({"a", {1}, 0, 4}).tensor({"b", {1}, 0, 4});
  const auto bytes = writer.str();
  CHECK(parse(bytes).parameters == 2);
  // Up to the last byte of the last tensor all is there; its padding need not be.
  const auto used = bytes.size() - 256 + 4;
  CHECK(parse(bytes.substr(0, used)).parameters == 2);
  CHECK(contains(why_invalid(bytes.substr(0, used - 1)), "truncated: the file has"));
}

TEST_CASE("a tensor of a type to come is counted, and is no error", "[gguf]") {
  GgufWriter writer;
  writer.tensor({"new", {128}, 99, 64}).tensor({"old", {32}, 8, 34});
  const auto info = parse(writer.str());
  CHECK(info.parameters == 160);
  CHECK(info.quantisation == "Q8_0");
}

TEST_CASE("an empty tensor and one without dimensions are counted", "[gguf]") {
  GgufWriter writer;
  writer.tensor({"empty", {0, 7}, 0, 0}).tensor({"scalar", {}, 0, 4});
  CHECK(parse(writer.str()).parameters == 1);
}
