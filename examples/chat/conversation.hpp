/// \file
/// A conversation with a model.
#pragma once

#include <llamavisor/text_model.hpp>

#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace llamavisor::chat {

class Conversation {
 public:
  /// `system` may be empty.
  Conversation(TextModel model, GenerateOptions options, std::string system);

  /// Answers the user's next message; `on_text` gets the answer as it comes. A turn that failed, or
  /// was cancelled before the first text, leaves no trace in the conversation. Throws what
  /// `on_text` throws, and nothing else: failures are in the result.
  GenerateResult ask(std::string message, const std::function<void(std::string_view)>& on_text,
                     std::stop_token stop);

  /// Begins anew, with the system message alone.
  void reset();

  /// Tokens of prompt and answer in the last turn that was kept.
  int tokens() const noexcept { return tokens_; }

  const TextModel& model() const noexcept { return model_; }
  const GenerateOptions& options() const noexcept { return options_; }

 private:
  GenerateResult answer(const std::function<void(std::string_view)>& on_text, std::stop_token stop);

  TextModel model_;
  GenerateOptions options_;
  std::string system_;
  std::vector<Message> messages_;
  int tokens_ = 0;
};

}  // namespace llamavisor::chat
