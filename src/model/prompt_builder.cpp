#include "model/prompt_builder.hpp"

#include "model/prompt_steps.hpp"

namespace llamavisor::model {

namespace {

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

std::unique_ptr<PromptBuilder> from_ids(std::vector<TokenId> ids) {
  return std::make_unique<IdsPrompt>(std::move(ids));
}

std::unique_ptr<PromptBuilder> from_text(std::string text) {
  return std::make_unique<TextPrompt>(std::move(text));
}

}  // namespace llamavisor::model
