#include "model/prompt_builder.hpp"

#include "model/prompt_steps.hpp"

#include <algorithm>

namespace llamavisor::model {

namespace {

/// A text before which SentencePiece's space goes: a newline is a byte token that merges with
/// nothing.
constexpr std::string_view guard = "\n";

class ContinuedPrompt final : public PromptSteps {
 public:
  ContinuedPrompt(std::vector<TokenId> ids, std::string text, bool space_prefix)
      : given_(std::move(ids)), text_(std::move(text)), space_prefix_(space_prefix) {}

 private:
  void begin() override {
    ids_ = given_;
    if (!text_.empty()) append_inside(text_, false, space_prefix_, [] {});
  }

  std::vector<TokenId> given_;
  std::string text_;
  bool space_prefix_;
};

class IdsPrompt final : public PromptSteps {
 public:
  explicit IdsPrompt(std::vector<TokenId> ids) : given_(std::move(ids)) {}

 private:
  void begin() override { ids_ = given_; }

  std::vector<TokenId> given_;
};

class TextPrompt final : public PromptSteps {
 public:
  explicit TextPrompt(std::string text) : text_(std::move(text)) {}

 private:
  void begin() override {
    append(text_, true, true, [this] { finish(); });
  }

  std::string text_;
};

}  // namespace

void PromptSteps::append_inside(const std::string& text, bool parse_special, bool space_prefix,
                                std::function<void()> then) {
  if (!space_prefix) return append(text, false, parse_special, std::move(then));
  ask(server::ask_tokenize(guard, false, false),
      [this, text, parse_special, then = std::move(then)](std::string_view body) {
        const auto before = server::parse_tokens(body);
        ask(server::ask_tokenize(std::string(guard) + text, false, parse_special),
            [this, text, parse_special, then, before](std::string_view whole) {
              const auto ids = server::parse_tokens(whole);
              const bool guarded = ids.size() >= before.size() &&
                                   std::equal(before.begin(), before.end(), ids.begin());
              if (!guarded) return append(text, false, parse_special, then);
              ids_.insert(ids_.end(), ids.begin() + static_cast<std::ptrdiff_t>(before.size()),
                          ids.end());
              then();
            });
      });
}

std::unique_ptr<PromptBuilder> continued(std::vector<TokenId> ids, std::string text,
                                         bool space_prefix) {
  return std::make_unique<ContinuedPrompt>(std::move(ids), std::move(text), space_prefix);
}

std::unique_ptr<PromptBuilder> from_ids(std::vector<TokenId> ids) {
  return std::make_unique<IdsPrompt>(std::move(ids));
}

std::unique_ptr<PromptBuilder> from_text(std::string text) {
  return std::make_unique<TextPrompt>(std::move(text));
}

}  // namespace llamavisor::model
