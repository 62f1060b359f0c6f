#include "catch.hpp"
#include "gguf/tensor_types.hpp"
#include "gguf/tensors.hpp"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

using namespace llamavisor::gguf;

namespace {

constexpr std::uint32_t f32 = 0, f16 = 1, q8_0 = 8, q3_k = 11, q4_k = 12, q6_k = 14;

std::string name_of(std::map<std::uint32_t, std::uint64_t> bytes,
                    std::optional<std::uint64_t> file_type) {
  TensorSums sums;
  sums.bytes_by_type = std::move(bytes);
  return quantisation(sums, file_type);
}

}  // namespace

TEST_CASE("a quantisation is named as the file says where its tensors bear it out", "[gguf]") {
  CHECK(name_of({{q4_k, 700}, {q6_k, 250}, {f32, 50}}, 15) == "Q4_K_M");
  CHECK(name_of({{q4_k, 700}, {q6_k, 250}, {f32, 50}}, 14) == "Q4_K_S");
  CHECK(name_of({{q3_k, 450}, {q6_k, 550}}, 13) == "Q3_K_L");
  CHECK(name_of({{f16, 900}, {f32, 100}}, 1) == "F16");
  CHECK(name_of({{f32, 100}}, 0) == "F32");
  // The flag for a guess is no part of the number.
  CHECK(name_of({{q8_0, 100}}, 1024 + 7) == "Q8_0");
}

TEST_CASE("a quantisation is the type of most bytes where the file says something else", "[gguf]") {
  CHECK(name_of({{q4_k, 900}, {f16, 100}}, 1) == "Q4_K");
  CHECK(name_of({{q4_k, 900}, {f32, 100}}, 0) == "Q4_K");
  CHECK(name_of({{q4_k, 400}, {q6_k, 600}}, std::nullopt) == "Q6_K");
  CHECK(name_of({{q8_0, 100}}, 999) == "Q8_0");
  CHECK(name_of({{q8_0, 100}}, 5) == "Q8_0");
}

TEST_CASE("without tensors of known size a quantisation is what the file says, or nothing",
          "[gguf]") {
  CHECK(name_of({}, 15) == "Q4_K_M");
  CHECK(name_of({}, std::nullopt) == "");
  CHECK(name_of({}, 999) == "");
}

TEST_CASE("every file type is made of a tensor type that is still read", "[gguf]") {
  std::set<std::string_view> names;
  int known = 0;
  for (std::uint64_t number = 0; number < 100; ++number) {
    const auto file = file_type(number);
    if (!file) continue;
    ++known;
    CAPTURE(file->name);
    CHECK(names.insert(file->name).second);
    const auto main = tensor_type(file->main_tensor);
    REQUIRE(main.has_value());
    CHECK(main->block_bytes > 0);
    // "Q4_K_M" is made of "Q4_K".
    if (!file->name.starts_with("IQ")) CHECK(file->name.starts_with(main->name));
  }
  CHECK(known == 35);
}

TEST_CASE("every tensor type has a name of its own and a sensible block", "[gguf]") {
  std::set<std::string_view> names;
  for (std::uint32_t number = 0; number < 42; ++number) {
    const auto type = tensor_type(number);
    REQUIRE(type.has_value());
    CAPTURE(type->name);
    CHECK(names.insert(type->name).second);
    CHECK((type->block_elements == 0) == (type->block_bytes == 0));
    if (type->block_elements == 0) continue;
    const double bits = 8.0 * type->block_bytes / type->block_elements;
    CHECK(bits >= 1);
    CHECK(bits <= 64);
    // The name tells the bits of an element; scales come on top.
    const auto digit = type->name.find_first_of("123456789");
    const int named = std::stoi(std::string(type->name.substr(digit)));
    const bool plain =
        type->name.starts_with('F') || type->name.starts_with('I') || type->name.starts_with('B');
    if (plain && !type->name.starts_with("IQ")) CHECK(bits == named);
    if (!plain || type->name.starts_with("IQ")) {
      CHECK(bits >= named);
      CHECK(bits <= named + 2);
    }
  }
  CHECK_FALSE(tensor_type(42).has_value());
}
