/// \file
/// Small files of the kernel: one value each.
#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llamavisor::device {

/// The beginning of a file, 64 KiB at most: what the kernel tells in one file is less. Empty where
/// it cannot be read, or is no file: a FIFO would never end.
std::string small_text(const std::filesystem::path& file);

/// The first line of it.
std::string first_line(const std::filesystem::path& file);

/// A whole text as a number.
template <std::integral Number>
std::optional<Number> parse_number(std::string_view text, int base = 10) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// A file that holds a number, decimal or with "0x"; unset where it does not.
std::optional<std::uint64_t> read_number(const std::filesystem::path& file);

/// The entries of a folder; none where it cannot be read.
std::vector<std::filesystem::path> entries(const std::filesystem::path& folder);

}  // namespace llamavisor::device
