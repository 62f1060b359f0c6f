// Files that are cut short, damaged, of another kind, or made to hurt.
#include "catch.hpp"
#include "gguf/byte_source.hpp"
#include "gguf_writer.hpp"
#include "parse_support.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <vector>

using namespace llamavisor;
using namespace llamavisor::gguf;
using namespace llamavisor::gguf::test;

namespace {

constexpr auto huge = std::numeric_limits<std::uint64_t>::max();

std::string why_invalid(const GgufWriter& writer) {
  return test::why_invalid(writer.str());
}

GgufWriter with_key(std::uint32_t type, const Bytes& value, std::string_view key = "x") {
  GgufWriter writer;
  writer.key(key, type, value);
  return writer;
}

GgufWriter with_tensor(const Tensor& tensor) {
  GgufWriter writer;
  writer.tensor(tensor);
  return writer;
}

}  // namespace

TEST_CASE("a file cut at any byte is said to be truncated", "[gguf]") {
  const auto bytes = small_model().str();
  CHECK(test::why_invalid("") == "not a GGUF file: it is empty");
  // The last tensor has 256 bytes, and needs no padding.
  for (std::size_t size = 1; size < bytes.size(); ++size) {
    const auto why = test::why_invalid(bytes.substr(0, size));
    if (why.rfind("truncated: ", 0) != 0 || !contains(why, "; download it again")) {
      CAPTURE(size);
      CHECK(why == "truncated");
    }
  }
  CHECK(test::why_invalid(bytes) == "no error");
}

TEST_CASE("any damaged byte is an invalid model or another model, and nothing else", "[gguf]") {
  const auto bytes = small_model().str();
  std::size_t rejected = 0;
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (const int value : {0x00, 0x01, 0x09, 0x7F, 0x80, 0xFF}) {
      auto damaged = bytes;
      damaged[at] = static_cast<char>(value);
      const auto why = test::why_invalid(damaged);
      if (why == "another code") CHECK(why == "invalid_model");
      if (why != "no error") ++rejected;
    }
  }
  CHECK(rejected > 1000);
}

TEST_CASE("random bytes behind a good start are never more than an error", "[gguf]") {
  std::mt19937_64 random(20260801);
  const auto bytes = small_model().str();
  for (int round = 0; round < 2000; ++round) {
    auto damaged = bytes;
    const auto count = 1 + random() % 8;
    for (std::uint64_t i = 0; i < count; ++i) {
      damaged[8 + random() % (damaged.size() - 8)] = static_cast<char>(random());
    }
    const auto why = test::why_invalid(damaged);
    if (why == "another code") CHECK(why == "invalid_model");
  }
  SUCCEED();
}

TEST_CASE("other versions and machines are named", "[gguf]") {
  const auto why_version = [](std::uint32_t version) {
    auto writer = small_model();
    writer.version = version;
    return why_invalid(writer);
  };
  CHECK(contains(why_version(1), "GGUF version 1, which llama.cpp no longer reads"));
  CHECK(contains(why_version(0x02000000), "big-endian"));
  CHECK(contains(why_version(0x03000000), "big-endian"));
  CHECK(contains(why_version(0), "GGUF version 0 is unknown"));
  CHECK(contains(why_version(4), "GGUF version 4 is unknown"));
}

TEST_CASE("other formats and failed downloads are named", "[gguf]") {
  const std::vector<std::pair<std::string, std::string>> table = {
      {"version https://git-lfs.github.com/spec/v1\noid sha256:", "Git LFS pointer"},
      {"<!DOCTYPE html><html>", "web page"},
      {"<html><head>", "web page"},
      {std::string("PK\x03\x04\0\0", 6), "ZIP archive"},
      {"lmgg\x01", "format before GGUF"},
      {"tjgg\x03", "format before GGUF"},
      {std::string("\x50\x01\0\0\0\0\0\0{\"__metadata__\"", 24), "safetensors"},
      {"{\"error\":\"Invalid credentials\"}", "JSON"},
      {std::string(1000, '\0'), "starts with zeros"},
      {"something else", "does not start with 'GGUF'"},
      {"GGU ", "does not start with 'GGUF'"},
      {"x", "does not start with 'GGUF'"},
  };
  for (const auto& [bytes, words] : table) {
    const auto why = test::why_invalid(bytes);
    CAPTURE(why, words);
    CHECK(why.rfind("not a GGUF file: ", 0) == 0);
    CHECK(contains(why, words));
  }
}

TEST_CASE("counts that cannot be true are refused before anything is made of them", "[gguf]") {
  const auto why_counts = [](std::uint64_t tensors, std::uint64_t keys) {
    auto writer = small_model();
    writer.counts = [=](std::uint64_t& t, std::uint64_t& k) {
      t = tensors;
      k = keys;
    };
    return why_invalid(writer);
  };
  CHECK(contains(why_counts(3, huge), "cannot have 18446744073709551615 keys, at byte 24"));
  CHECK(contains(why_counts(3, 65537), "cannot have 65537 keys"));
  CHECK(contains(why_counts(3, 65536), "truncated: the number of keys"));
  CHECK(contains(why_counts(huge, 15), "cannot have 18446744073709551615 tensors, at byte 16"));
  CHECK(contains(why_counts(262'144, 15), "truncated: the list of tensors"));
  CHECK(contains(why_counts(std::uint64_t{1} << 63, 15), "tensors"));
}

TEST_CASE("lengths that cannot be true are refused", "[gguf]") {
  // Of a text, wanted and not.
  for (const auto* key : {"general.name", "x"}) {
    CHECK(contains(why_invalid(with_key(type_text, Bytes().u64(huge), key)), "cannot have"));
    CHECK(contains(why_invalid(with_key(type_text, Bytes().u64(1 << 30), key)), "truncated"));
    CHECK(contains(why_invalid(with_key(type_text, Bytes().u64(64), key)), "truncated"));
  }
  CHECK(contains(
      why_invalid(with_key(type_text, Bytes().text(std::string(129, 'a')), "general.architecture")),
      "'general.architecture' has 129 bytes, and 128 at most"));
  // Of a key.
  GgufWriter long_key;
  long_key.key(std::string(65536, 'k'), 1u);
  CHECK(contains(why_invalid(long_key), "a key has 65536 bytes"));
  GgufWriter empty_key;
  empty_key.key("", 1u);
  CHECK(contains(why_invalid(empty_key), "a key is empty"));
  // Of an array.
  for (const auto type : {type_u8, type_f64, type_text, type_array}) {
    CAPTURE(type);
    CHECK(contains(why_invalid(with_key(type_array, Bytes().u32(type).u64(huge))), "cannot be"));
    CHECK(contains(why_invalid(with_key(type_array, Bytes().u32(type).u64(huge / 8 + 2))),
                   "cannot be"));
    CHECK(
        contains(why_invalid(with_key(type_array, Bytes().u32(type).u64(1'000'000))), "truncated"));
  }
  // Of a text within an array.
  CHECK(
      contains(why_invalid(with_key(type_array, Bytes().u32(type_text).u64(2).text("a").u64(huge))),
               "cannot have"));
}

TEST_CASE("types that do not exist are refused", "[gguf]") {
  CHECK(contains(why_invalid(with_key(13, Bytes().u64(0))),
                 "'x' is of type 13, which does not exist"));
  CHECK(contains(why_invalid(with_key(0xFFFFFFFF, Bytes())), "does not exist"));
  CHECK(contains(why_invalid(with_key(type_array, Bytes().u32(13).u64(0))), "does not exist"));
}

TEST_CASE("arrays in arrays are bounded", "[gguf]") {
  const auto nested = [](int depth) {
    Bytes value;
    for (int i = 1; i < depth; ++i)
      value.u32(type_array).u64(1);
    return with_key(type_array, value.u32(type_u8).u64(1).u8(1));
  };
  CHECK(why_invalid(nested(4)) == "no error");
  CHECK(contains(why_invalid(nested(5)), "nested too deep"));
  CHECK(contains(why_invalid(nested(100'000)), "nested too deep"));
}

TEST_CASE("numbers that are none, or cannot be true, are refused", "[gguf]") {
  const std::string key = "a.context_length";
  CHECK(contains(why_invalid(with_key(type_f32, Bytes().u32(0), key)), "should be an integer"));
  CHECK(contains(why_invalid(with_key(type_text, Bytes().text("4096"), key)),
                 "is of type string, and should be an integer"));
  CHECK(contains(why_invalid(with_key(type_i32, Bytes().u32(0xFFFFFFFF), key)), "is -1"));
  CHECK(contains(why_invalid(with_key(type_i64, Bytes().u64(huge), key)), "is -1"));
  CHECK(contains(why_invalid(with_key(type_array, Bytes().u32(type_text).u64(1).text("1"), key)),
                 "should be an integer"));
  CHECK(
      contains(why_invalid(with_key(
                   type_array, Bytes().u32(type_u8).u64(65537).raw(std::string(65537, '\1')), key)),
               "cannot have 65537 numbers"));
  auto too_large = with_key(type_u64, Bytes().u64(std::uint64_t{1} << 32), key);
  too_large.key("general.architecture", "a");
  CHECK(contains(why_invalid(too_large), "'a.context_length' cannot be 4294967296"));
  CHECK(contains(why_invalid(with_key(type_u32, Bytes().u32(1), "general.name")),
                 "should be a string"));
}

TEST_CASE("an alignment that is no power of two is refused", "[gguf]") {
  for (const std::uint32_t alignment : {0u, 3u, 33u, 0xFFFFFFFFu}) {
    CAPTURE(alignment);
    CHECK(contains(why_invalid(with_key(type_u32, Bytes().u32(alignment), "general.alignment")),
                   "no power of two"));
  }
  auto largest = with_key(type_u64, Bytes().u64(std::uint64_t{1} << 63), "general.alignment");
  CHECK(why_invalid(largest) == "no error");
  largest.tensor({"a", {1}, 0, 4});
  CHECK(contains(why_invalid(largest), "truncated"));
}

TEST_CASE("a key or a tensor that comes twice is refused", "[gguf]") {
  GgufWriter keys;
  keys.key("x", 1u).key("x", 2u);
  CHECK(contains(why_invalid(keys), "the key 'x' comes twice"));
  GgufWriter tensors;
  tensors.tensor({"t", {1}, 0, 4}).tensor({"t", {1}, 0, 4});
  CHECK(contains(why_invalid(tensors), "the tensor 't' comes twice"));
}

TEST_CASE("many keys that look alike do not fill the memory", "[gguf]") {
  GgufWriter writer;
  for (int i = 0; i < 4097; ++i)
    writer.key("a" + std::to_string(i) + ".block_count", 1u);
  CHECK(contains(why_invalid(writer), "too many keys look alike"));
}

TEST_CASE("tensors that cannot be true are refused", "[gguf]") {
  CHECK(contains(why_invalid(with_tensor({std::string(65, 'n'), {1}, 0, 4})),
                 "a tensor's name has 65 bytes, and 64 at most"));
  CHECK(contains(why_invalid(with_tensor({"t", {1, 1, 1, 1, 1}, 0, 4})),
                 "the tensor 't' cannot have 5 dimensions"));
  CHECK(contains(why_invalid(with_tensor({"t", {huge}, 0, 4})), "cannot be so large"));
  CHECK(contains(why_invalid(with_tensor({"t", {1u << 31, 1u << 31, 4}, 0, 4})),
                 "cannot be so large"));
  CHECK(contains(why_invalid(with_tensor({"t", {std::uint64_t{1} << 62}, 0, 4})),
                 "cannot be so large"));
  CHECK(contains(why_invalid(with_tensor({"t", {32}, 1024, 4})), "type 1024, which cannot exist"));
  CHECK(contains(why_invalid(with_tensor({"t", {32}, 31, 4})),
                 "type Q4_0_4_4, which llama.cpp no longer reads"));
  CHECK(contains(why_invalid(with_tensor({"t", {33, 32}, 8, 4})),
                 "rows of 33 elements, and its type Q8_0 takes blocks of 32"));
  GgufWriter sum;
  sum.tensor({"a", {std::uint64_t{1} << 62}, 24, 0}).tensor({"b", {std::uint64_t{1} << 62}, 24, 0});
  CHECK(contains(why_invalid(sum), "the model cannot be so large"));
  const auto why_offset = [](std::uint64_t offset) {
    auto writer = with_tensor({"t", {1}, 0, 4});
    writer.offset = [=](std::uint64_t) { return offset; };
    return why_invalid(writer);
  };
  CHECK(contains(why_offset(8), "lies at 8, which is no multiple of 32"));
  CHECK(contains(why_offset(huge - 31), "cannot be so large"));
  CHECK(contains(why_offset(1u << 20), "truncated"));
  CHECK(why_offset(0) == "no error");
}

TEST_CASE("what a stranger wrote cannot spoil a message", "[gguf]") {
  GgufWriter writer;
  const auto key = "evil\n\x1B[31m" + std::string(60'000, 'x');
  writer.key(key, 1u).key(key, 2u);
  const auto why = why_invalid(writer);
  CHECK(contains(why, "'evil??[31mxxx"));
  CHECK(why.size() < 400);
  CHECK(contains(why_invalid(with_tensor({"t\n", {1, 1, 1, 1, 1}, 0, 4})), "'t?'"));
}

namespace {

/// A file of any size that is a given start and then one byte for ever; it cannot be held in
/// memory.
class EndlessSource final : public ByteSource {
 public:
  EndlessSource(std::string start, std::uint64_t size) : start_(std::move(start)), size_(size) {}

  std::uint64_t size() const override { return size_; }

  std::size_t read_at(std::uint64_t offset, char* out, std::size_t size) override {
    largest_read = std::max(largest_read, size);
    end_of_reads = std::max(end_of_reads, offset + size);
    std::fill_n(out, size, '\0');
    if (offset < start_.size()) start_.copy(out, size, static_cast<std::size_t>(offset));
    return size;
  }

  std::size_t largest_read = 0;
  std::uint64_t end_of_reads = 0;

 private:
  std::string start_;
  std::uint64_t size_;
};

}  // namespace

TEST_CASE("a huge file is neither read to its end nor into memory", "[gguf]") {
  constexpr auto tebibyte = std::uint64_t{1} << 40;
  const auto start_of = [](const Bytes& value) {
    auto bytes = with_key(type_array, value).str();
    return bytes.substr(0, 24 + 8 + 1 + 4 + 12);
  };
  // A sparse file whose vocabulary is said to be 137 thousand million empty texts.
  EndlessSource texts(start_of(Bytes().u32(type_text).u64(tebibyte / 8 - 64)), tebibyte);
  CHECK_THROWS_AS(parse_gguf(texts), Error);
  CHECK(texts.end_of_reads < 1 << 20);
  // Numbers are passed over without a look at them: half a gibibyte here.
  GgufWriter numbers;
  numbers.key("x", type_array, Bytes().u32(type_u8).u64(std::uint64_t{1} << 29));
  EndlessSource skipped(start_of(Bytes().u32(type_u8).u64(std::uint64_t{1} << 29)), tebibyte);
  CHECK(parse_gguf(skipped).info.version == 3);
  CHECK(skipped.end_of_reads < 1 << 20);
  CHECK(skipped.largest_read <= 64 * 1024);
}

TEST_CASE("a file that cannot be read to the size it had is an error", "[gguf]") {
  class Shrunk final : public ByteSource {
   public:
    std::uint64_t size() const override { return bytes_.size(); }
    std::size_t read_at(std::uint64_t offset, char* out, std::size_t size) override {
      if (offset >= 100) return 0;
      return bytes_.copy(out, std::min<std::size_t>(size, 100 - offset), offset);
    }

   private:
    std::string bytes_ = small_model().str();
  } source;
  try {
    parse_gguf(source);
    CHECK(false);
  } catch (const Error& error) {
    CHECK(error.code() == errc::invalid_model);
    CHECK(contains(error.what(), "cannot be read"));
  }
}
