/// \file
/// A prompt builder as a chain of questions.
#pragma once

#include "model/prompt_builder.hpp"

#include <functional>
#include <utility>

namespace llamavisor::model {

/// Each step asks one question and says what to do with its answer.
class PromptSteps : public PromptBuilder {
 public:
  std::optional<server::ServerCall> question() final {
    if (!started_) {
      started_ = true;
      begin();
    }
    return question_;
  }

  void answer(std::string_view body) final {
    question_.reset();
    std::exchange(next_, nullptr)(body);
  }

  void restart() final {
    started_ = false;
    question_.reset();
    next_ = nullptr;
    ids_.clear();
  }

 protected:
  using Next = std::function<void(std::string_view body)>;

  virtual void begin() = 0;

  void ask(server::ServerCall question, Next next) {
    question_ = std::move(question);
    next_ = std::move(next);
  }

  /// Appends the ids of a text.
  void append(std::string_view text, bool add_special, bool parse_special,
              std::function<void()> then) {
    ask(server::ask_tokenize(text, add_special, parse_special),
        [this, then = std::move(then)](std::string_view body) {
          const auto ids = server::parse_tokens(body);
          ids_.insert(ids_.end(), ids.begin(), ids.end());
          then();
        });
  }

  /// Appends the ids of a text in the middle of a conversation: without the space that a
  /// SentencePiece tokenizer ("llama") puts first.
  void append_inside(const std::string& text, bool parse_special, bool space_prefix,
                     std::function<void()> then);

  /// A server takes no empty prompt: like the stock server, we then begin with the BOS.
  void finish() {
    if (ids_.empty() && !bos_text_.empty()) append(bos_text_, false, true, [] {});
  }

 private:
  std::optional<server::ServerCall> question_;
  Next next_;
  bool started_ = false;
};

}  // namespace llamavisor::model
