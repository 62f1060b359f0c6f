/// \file
/// From what the host said to the ids that the server gets. A sans-IO state machine.
#pragma once

#include <llamavisor/text_model.hpp>

#include "server/server_call.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llamavisor::model {

/// Asks the server's own tokenizer and template, one question at a time, until the ids are known.
///
/// Chat text is data: a control token written out in a message must not end its turn. So the ids
/// of the messages are compared with and without `parse_special`; a message where they differ is
/// replaced by a placeholder in the template, and tokenized apart, as plain text.
class PromptBuilder {
 public:
  virtual ~PromptBuilder() = default;

  /// The question that is due; empty when the ids are known.
  virtual std::optional<server::ServerCall> question() = 0;

  /// The answer's body, of status 200. Throws `Error`.
  virtual void answer(std::string_view body) = 0;

  /// Known when `question()` is empty.
  const std::vector<TokenId>& ids() const noexcept { return ids_; }

  /// Begins anew: another server takes over.
  virtual void restart() = 0;

  /// The model's BOS as text, for a prompt without any token: a server takes no empty prompt.
  void set_bos_text(std::string text) { bos_text_ = std::move(text); }

 protected:
  std::vector<TokenId> ids_;
  std::string bos_text_;
};

std::unique_ptr<PromptBuilder> from_ids(std::vector<TokenId> ids);
std::unique_ptr<PromptBuilder> from_text(std::string text);

/// Known ids, and a text that goes on from them, as plain text.
std::unique_ptr<PromptBuilder> continued(std::vector<TokenId> ids, std::string text,
                                         bool space_prefix);

/// `space_prefix`: the tokenizer puts a space before a text ("llama", SentencePiece), which must
/// not happen in the middle of a conversation.
std::unique_ptr<PromptBuilder> from_chat(std::vector<Message> messages, bool special_tokens_in_text,
                                         bool space_prefix);

}  // namespace llamavisor::model
