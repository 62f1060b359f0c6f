#include "gguf/split_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace llamavisor::gguf {
namespace {

constexpr std::size_t digits = 5;
constexpr std::string_view between = "-of-";
constexpr std::string_view extension = ".gguf";
constexpr std::size_t tail = 1 + digits + between.size() + digits + extension.size();

/// 0 where it is no number of five digits.
int read_number(std::string_view text) {
  const bool plain =
      std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  int number = 0;
  if (plain) std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace

std::string SplitName::of_part(int number) const {
  return fmt::format("{}-{:05}-of-{:05}.gguf", stem, number, parts);
}

std::optional<SplitName> parse_split_name(std::string_view file_name) {
  if (file_name.size() < tail || !file_name.ends_with(extension)) return std::nullopt;
  const auto end = file_name.substr(file_name.size() - tail);
  if (end[0] != '-' || end.substr(1 + digits, between.size()) != between) return std::nullopt;
  const int part = read_number(end.substr(1, digits));
  const int parts = read_number(end.substr(1 + digits + between.size(), digits));
  if (part < 1 || part > parts) return std::nullopt;
  return SplitName{std::string(file_name.substr(0, file_name.size() - tail)), part, parts};
}

}  // namespace llamavisor::gguf
