#include "common/shell_words.hpp"

#include <llamavisor/error.hpp>

#include <fmt/format.h>

#include <optional>
#include <utility>

namespace llamavisor::cli {

namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/// Inside double quotes, \ guards only what would mean something there.
bool guards(char quote, char next) {
  return quote != '"' || next == '"' || next == '\\' || next == '$' || next == '`';
}

}  // namespace

std::vector<std::string> shell_words(std::string_view text) {
  std::vector<std::string> words;
  std::optional<std::string> word;  // an empty pair of quotes is a word too
  char quote = 0;
  const auto add = [&](char c) {
    if (!word) word.emplace();
    *word += c;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote == '\'' && c != '\'') {
      add(c);
    } else if (c == '\\' && i + 1 == text.size()) {
      throw Error(errc::invalid_option, fmt::format("nothing follows the last \\ in: {}", text));
    } else if (c == '\\' && guards(quote, text[i + 1])) {
      add(text[++i]);
    } else if (quote != 0 && c == quote) {
      quote = 0;
    } else if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
      if (!word) word.emplace();
    } else if (quote == 0 && is_blank(c)) {
      if (word) words.push_back(*std::exchange(word, std::nullopt));
    } else {
      add(c);
    }
  }
  if (quote != 0)
    throw Error(errc::invalid_option, fmt::format("a {} has no end in: {}", quote, text));
  if (word) words.push_back(std::move(*word));
  return words;
}

}  // namespace llamavisor::cli
