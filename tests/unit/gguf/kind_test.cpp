// What a file is for, and which part of a split model it is.
#include "catch.hpp"
#include "gguf_writer.hpp"
#include "parse_support.hpp"

#include <string_view>

using namespace llamavisor;
using namespace llamavisor::gguf::test;

namespace {

ModelKind kind_of(const GgufWriter& writer) {
  return parse(writer.str()).kind;
}

GgufWriter of_type(std::string_view type) {
  auto writer = small_model();
  writer.key("general.type", type);
  return writer;
}

GgufWriter split(std::uint32_t number, std::uint32_t count) {
  auto writer = small_model();
  writer.key("split.no", number).key("split.count", count);
  return writer;
}

}  // namespace

TEST_CASE("a model is a text model, whether the file calls itself one or not", "[gguf]") {
  CHECK(kind_of(small_model()) == ModelKind::text);
  CHECK(kind_of(of_type("model")) == ModelKind::text);
}

TEST_CASE("adapters and projectors are told from models", "[gguf]") {
  const auto adapter = parse(small_adapter("qwen2").str());
  CHECK(adapter.kind == ModelKind::adapter);
  CHECK(adapter.adapter_type == "lora");
  CHECK(adapter.architecture == "qwen2");
  CHECK(kind_of(of_type("adapter")) == ModelKind::adapter);
  CHECK(kind_of(small_projector()) == ModelKind::projector);
  GgufWriter old_projector;
  old_projector.key("general.architecture", "clip").tensor({"a", {1}, 0, 4});
  CHECK(kind_of(old_projector) == ModelKind::projector);
  CHECK(parse(small_model().str()).adapter_type.empty());
}

TEST_CASE("a tokenizer without weights is a vocabulary, but for the first part of a split model",
          "[gguf]") {
  GgufWriter vocabulary;
  vocabulary.key("general.architecture", "llama")
      .key("tokenizer.ggml.model", "gpt2")
      .texts("tokenizer.ggml.tokens", {"a"});
  CHECK(kind_of(vocabulary) == ModelKind::vocabulary);
  vocabulary.key("split.no", 0u).key("split.count", 2u);
  CHECK(kind_of(vocabulary) == ModelKind::text);
}

TEST_CASE("what is none of these is something else", "[gguf]") {
  CHECK(kind_of(of_type("imatrix")) == ModelKind::other);
  CHECK(kind_of(of_type("a type to come")) == ModelKind::other);
  CHECK(kind_of(GgufWriter()) == ModelKind::other);
  GgufWriter painter;
  painter.key("general.architecture", "flux").tensor({"a", {1}, 0, 4});
  CHECK(kind_of(painter) == ModelKind::other);
}

TEST_CASE("a size has the label that the file gives it", "[gguf]") {
  auto writer = small_model();
  writer.key("general.size_label", "8x7B");
  CHECK(parse(writer.str()).size_label == "8x7B");
  CHECK(parse(small_model().str()).size_label.empty());
}

TEST_CASE("a part of a split model knows its place", "[gguf]") {
  const auto info = parse(split(2, 3).str());
  CHECK(info.part == 3);
  CHECK(info.parts == 3);
  for (const std::uint32_t count : {0u, 1u}) {
    CHECK(parse(split(0, count).str()).part == 1);
    CHECK(parse(split(0, count).str()).parts == 1);
  }
  CHECK(parse(split(0, 99'999).str()).parts == 99'999);
}

TEST_CASE("a part that cannot be is refused", "[gguf]") {
  CHECK(contains(why_invalid(split(3, 3).str()), "cannot be part 3 of 3"));
  CHECK(contains(why_invalid(split(0, 100'000).str()), "cannot be part 0 of 100000"));
  CHECK(contains(why_invalid(split(4'000'000'000u, 4'000'000'000u).str()), "cannot be part"));
}
