/// \file
/// Requests whose answer is one token's probabilities: docs/decisions/0006-scores.md.
#pragma once

#include <llamavisor/generate_options.hpp>

#include "server/server_call.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace llamavisor::server {

/// Leaves these ids in the slot, and tells nothing.
ServerCall ask_prefix(std::span<const TokenId> ids, bool cache_prompt);

/// The probabilities of the options' ids among themselves. Each gets the same bias, so that all of
/// them, and nobody else, are among the top K: a softmax does not change under a common shift.
ServerCall ask_option_row(std::span<const TokenId> ids, std::span<const TokenId> options,
                          double bias, bool cache_prompt);

/// All log-probabilities. `text_token` is valid text by itself; it is made the one that is sampled
/// (the probabilities are those before any bias), since a server tells none for a token that is
/// only part of a character.
ServerCall ask_vocabulary_row(std::span<const TokenId> ids, int vocabulary, TokenId text_token,
                              bool cache_prompt);

/// The log-probability of one id over the whole vocabulary: it is made the one that is sampled.
ServerCall ask_token_score(std::span<const TokenId> ids, TokenId next, bool cache_prompt);

/// What such a request was answered.
struct ScoreReply {
  struct Entry {
    TokenId id = 0;
    double logprob = 0;  ///< natural
  };

  int cached = 0;                   ///< tokens of the prompt that the slot had already
  bool told = false;                ///< whether the server gave probabilities at all
  std::optional<double> sampled{};  ///< log-probability of the token that was sampled
  std::vector<Entry> top{};
};

/// Throws `Error` (`protocol_error`).
ScoreReply parse_score(std::string_view body);

/// Many texts in one question, tokenised each by itself, as plain text or with control tokens.
ServerCall ask_tokenize_each(std::span<const std::string> texts, bool parse_special);
std::vector<std::vector<TokenId>> parse_each(std::string_view body, std::size_t count);

/// The template's text for an answer without a phase of thinking, where the template knows of one.
ServerCall ask_plain_answer_template(std::span<const Message> messages);

}  // namespace llamavisor::server
