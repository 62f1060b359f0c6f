#include "gguf/metadata.hpp"

#include <llamavisor/error.hpp>

#include "gguf/value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <limits>
#include <unordered_set>

namespace llamavisor::gguf {
namespace {

// Models have 20 to 200 pairs. An empty text under a key of one byte is the smallest.
constexpr std::uint64_t max_pairs = 65536;
constexpr std::uint64_t smallest_pair = 8 + 1 + 4 + 1;
constexpr std::size_t max_key = 65535;

// A key that we keep the value of is no longer than this; it holds the architecture's name.
constexpr std::size_t max_wanted_key = 256;
constexpr std::size_t max_wanted_numbers = 4096;

struct WantedText {
  std::string_view key;
  std::size_t max_size;
};

constexpr std::array<WantedText, 7> wanted_texts{{{"general.architecture", 128},
                                                  {"general.type", 128},
                                                  {"general.name", 64 * 1024},
                                                  {"general.size_label", 1024},
                                                  {"adapter.type", 128},
                                                  {"tokenizer.ggml.model", 128},
                                                  {"tokenizer.chat_template", 16 << 20}}};

constexpr std::array<std::string_view, 4> wanted_numbers{"general.alignment", "general.file_type",
                                                         "split.no", "split.count"};

// The architecture stands before them, and need not be known yet.
constexpr std::array<std::string_view, 9> wanted_suffixes{
    ".context_length",       ".embedding_length",        ".block_count",
    ".attention.head_count", ".attention.head_count_kv", ".attention.sliding_window",
    ".ssm.state_size",       ".wkv.head_size",           ".vocab_size"};

constexpr std::string_view tokens_key = "tokenizer.ggml.tokens";

bool is_wanted_number(std::string_view key) {
  if (key.size() > max_wanted_key) return false;
  return std::find(wanted_numbers.begin(), wanted_numbers.end(), key) != wanted_numbers.end() ||
         std::any_of(wanted_suffixes.begin(), wanted_suffixes.end(),
                     [&](std::string_view suffix) { return key.ends_with(suffix); });
}

/// A key as it may stand in a message: it comes from a stranger, and may be long.
std::string shown(const std::string& key) {
  std::string text = key.substr(0, max_wanted_key);
  for (char& c : text) {
    if (c < ' ' || c > '~') c = '?';
  }
  return "'" + text + "'";
}

}  // namespace

Metadata Metadata::read(HeaderReader& reader, std::uint64_t count) {
  if (count > max_pairs) reader.fail(fmt::format("the file cannot have {} keys", count));
  reader.require(count, smallest_pair, "the number of keys");
  Metadata metadata;
  std::unordered_set<std::size_t> seen;  // hashes: the keys themselves may be large
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto key = reader.text(max_key, "a key");
    if (key.empty()) reader.fail("a key is empty");
    if (!seen.insert(std::hash<std::string>{}(key)).second) {
      reader.fail(fmt::format("the key {} comes twice", shown(key)));
    }
    metadata.read_pair(reader, key);
  }
  if (!std::has_single_bit(metadata.alignment())) {
    reader.fail(
        fmt::format("'general.alignment' is {}, and no power of two", metadata.alignment()));
  }
  return metadata;
}

void Metadata::read_pair(HeaderReader& reader, const std::string& key) {
  const auto label = shown(key);
  const auto type = read_type(reader, label);
  const auto wanted = std::find_if(wanted_texts.begin(), wanted_texts.end(),
                                   [&](const WantedText& text) { return text.key == key; });
  if (wanted != wanted_texts.end()) {
    if (type != ValueType::text) {
      reader.fail(fmt::format("{} is of type {}, and should be a string", label, name(type)));
    }
    texts_[key] = reader.text(wanted->max_size, label);
  } else if (is_wanted_number(key)) {
    if (numbers_.size() == max_wanted_numbers) reader.fail("too many keys look alike");
    numbers_[key] = read_number(reader, type, label);
  } else if (key == tokens_key && type == ValueType::array) {
    tokens_ = skip_array(reader, label);
  } else {
    skip_value(reader, type, label);
  }
}

const std::string& Metadata::text(std::string_view key) const {
  static const std::string none;
  const auto found = texts_.find(key);
  return found == texts_.end() ? none : found->second;
}

std::optional<std::uint64_t> Metadata::number(std::string_view key) const {
  const auto found = numbers_.find(key);
  if (found == numbers_.end()) return std::nullopt;
  return found->second;
}

std::uint32_t Metadata::model_number(std::string_view suffix) const {
  const auto key = fmt::format("{}{}", architecture(), suffix);
  const auto value = number(key).value_or(0);
  if (value > std::numeric_limits<std::uint32_t>::max()) {
    throw Error(errc::invalid_model, fmt::format("{} cannot be {}", shown(key), value));
  }
  return static_cast<std::uint32_t>(value);
}

}  // namespace llamavisor::gguf
