#include "scoring/prompt_frame.hpp"

#include <llamavisor/error.hpp>

#include "server/score_request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

namespace llamavisor::scoring {

namespace {

/// A text before which SentencePiece's space goes: a newline is a byte token that merges with
/// nothing.
constexpr std::string_view guard = "\n";

/// Stands for the user's message: nothing that a template would alter or have of its own.
constexpr std::string_view placeholder = "placeholderq7x2k9m4qplaceholder";

std::size_t occurrences(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

/// The first labels of a set, where each is one token and none is another's.
bool serve(std::span<const std::vector<TokenId>> ids) {
  std::set<TokenId> distinct;
  return std::all_of(ids.begin(), ids.end(), [&](const auto& label) {
    return label.size() == 1 && distinct.insert(label.front()).second;
  });
}

/// 01, 02, ... 12: none is the beginning of another.
std::vector<std::string> numbers(std::size_t count) {
  const auto digits = std::to_string(count).size();
  std::vector<std::string> texts;
  for (std::size_t number = 1; number <= count; ++number)
    texts.push_back(fmt::format("{:0{}}", number, digits));
  return texts;
}

}  // namespace

std::vector<TokenId> Tokenizer::whole(std::string_view text) const {
  return server::parse_tokens(ask_(server::ask_tokenize(text, true, true)));
}

std::vector<std::vector<TokenId>> Tokenizer::each(std::span<const std::string> texts,
                                                  bool parse_special) const {
  return server::parse_each(ask_(server::ask_tokenize_each(texts, parse_special)), texts.size());
}

std::vector<std::vector<TokenId>> Tokenizer::inside(std::span<const std::string> texts,
                                                    bool parse_special) const {
  std::vector<std::string> filled;
  for (const auto& text : texts) {
    if (!text.empty()) filled.push_back(text);
  }
  if (filled.empty()) return std::vector<std::vector<TokenId>>(texts.size());
  auto plain = each(filled, parse_special);
  if (space_prefix_) {
    std::vector<std::string> guarded{std::string(guard)};
    for (const auto& text : filled)
      guarded.push_back(std::string(guard) + text);
    const auto ids = each(guarded, parse_special);
    const auto& front = ids.front();
    for (std::size_t at = 0; at < filled.size(); ++at) {
      const auto& whole = ids[at + 1];
      if (whole.size() < front.size() || !std::equal(front.begin(), front.end(), whole.begin()))
        continue;
      plain[at].assign(whole.begin() + static_cast<std::ptrdiff_t>(front.size()), whole.end());
    }
  }
  std::vector<std::vector<TokenId>> result;
  auto next = plain.begin();
  for (const auto& text : texts)
    result.push_back(text.empty() ? std::vector<TokenId>{} : std::move(*next++));
  return result;
}

PromptFrame::PromptFrame(PromptFormat format, Tokenizer tokenizer)
    : format_(std::move(format)), tokenizer_(std::move(tokenizer)) {
  const std::array<std::string, 1> letter{"a"};
  const auto ids = tokenizer_.inside(letter, false).front();
  if (ids.empty()) throw Error(errc::invalid_model, "the model has no token for \"a\"");
  text_token_ = ids.back();
  std::string before;
  std::string after;
  if (!format_.chat) {
    if (!format_.system.empty()) before = format_.system + "\n\n";
  } else {
    auto text = render(true);
    if (!text) {
      state_prefix_ = format_.system + "\n\n";
      text = render(false);
    }
    if (!text) {
      throw Error(errc::invalid_model,
                  "this model's chat template does not hand a message through as it is: questions "
                  "need a prompt format with \"chat\": false");
    }
    const auto at = text->find(placeholder);
    before = text->substr(0, at);
    after = text->substr(at + placeholder.size());
  }
  if (!before.empty()) before_ = tokenizer_.whole(before);
  const std::array<std::string, 1> rest{after + format_.answer};
  after_ = tokenizer_.inside(rest, true).front();
}

/// The conversation as text; empty where it is not whole in it.
std::optional<std::string> PromptFrame::render(bool with_system) const {
  std::vector<Message> messages;
  if (with_system && !format_.system.empty())
    messages.push_back({.role = "system", .content = format_.system});
  messages.push_back({.role = "user", .content = std::string(placeholder)});
  std::string text;
  try {
    text = server::parse_prompt(tokenizer_.ask()(server::ask_plain_answer_template(messages)));
  } catch (const Error& error) {
    // The template itself says no, as some do to a system message.
    if (error.failure().http_status == 0) throw;
    return std::nullopt;
  }
  if (occurrences(text, placeholder) != 1) return std::nullopt;
  if (with_system && text.find(format_.system) == std::string::npos) return std::nullopt;
  return text;
}

const Labels& PromptFrame::labels(std::size_t count) {
  const std::lock_guard lock(mutex_);
  const auto found = labels_.find(count);
  if (found != labels_.end()) return found->second;
  return labels_.emplace(count, find_labels(count)).first->second;
}

Labels PromptFrame::find_labels(std::size_t count) const {
  for (const auto& set : format_.labels) {
    if (set.size() < count) continue;
    Labels labels{.texts = {set.begin(), set.begin() + static_cast<std::ptrdiff_t>(count)}};
    labels.ids = tokenizer_.inside(labels.texts, false);
    if (serve(labels.ids)) return labels;
  }
  Labels labels{.texts = numbers(count)};
  labels.ids = tokenizer_.inside(labels.texts, false);
  return labels;
}

}  // namespace llamavisor::scoring
