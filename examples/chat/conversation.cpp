#include "conversation.hpp"

#include <utility>

namespace llamavisor::chat {

Conversation::Conversation(TextModel model, GenerateOptions options, std::string system)
    : model_(std::move(model)), options_(std::move(options)), system_(std::move(system)) {
  reset();
}

void Conversation::reset() {
  messages_.clear();
  tokens_ = 0;
  if (!system_.empty()) messages_.push_back({.role = "system", .content = system_});
}

GenerateResult Conversation::ask(std::string message,
                                 const std::function<void(std::string_view)>& on_text,
                                 std::stop_token stop) {
  messages_.push_back({.role = "user", .content = std::move(message)});
  auto result = answer(on_text, std::move(stop));
  const bool cancelled = result.finish_reason == FinishReason::cancelled;
  if (result.failure || (cancelled && result.text.empty())) {
    messages_.pop_back();
  } else {
    messages_.push_back({.role = "assistant", .content = result.text});
    tokens_ = result.prompt_tokens + result.generated_tokens;
  }
  return result;
}

GenerateResult Conversation::answer(const std::function<void(std::string_view)>& on_text,
                                    std::stop_token stop) try {
  // A model that failed in an earlier turn gets a new server: the conversation is ours, not its.
  if (model_.state() == ModelState::failed) model_.reload(stop);
  auto stream = model_.chat(messages_, options_);
  const std::stop_callback on_stop(stop, [&] { stream.cancel(); });
  for (const auto& token : stream)
    on_text(token.text);
  return stream.result();
} catch (const Error& error) {
  GenerateResult result;
  result.failure = error.failure();
  return result;
}

}  // namespace llamavisor::chat
