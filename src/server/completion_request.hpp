/// \file
/// A request to the native `/completion` endpoint.
#pragma once

#include <llamavisor/generate_options.hpp>

#include "server/server_call.hpp"

#include <optional>
#include <span>

namespace llamavisor::server {

/// Checks every option; throws `Error` (`invalid_option`) that names the member and its range.
void check_options(const GenerateOptions& options);

/// A streamed completion of these ids, with ids, progress and keep-alives. The options have been
/// checked. A limit of 0 tokens is sent as -1: to the server, 0 means one token.
ServerCall ask_completion(std::span<const TokenId> prompt, const GenerateOptions& options);

/// One token: the proof that a server can compute.
ServerCall ask_first_token();

/// The `best` most probable next tokens, over the whole vocabulary. `text_token` is any token that
/// is valid text by itself: it is made the one that is sampled (the probabilities are those before
/// any bias), since a server tells none for a token that is only part of a character.
ServerCall ask_best_tokens(std::span<const TokenId> prompt, int best, TokenId text_token);

/// The probabilities of these ids among themselves. Each gets the same large bias, so that all of
/// them, and nobody else, are among the top K; the softmax over the K is then theirs alone
/// (softmax is invariant under a common shift).
ServerCall ask_option_scores(std::span<const TokenId> prompt, std::span<const TokenId> ids);

/// Answers of the two. `parse_option_scores` is empty where the server told no probabilities: the
/// token that it sampled is only part of a character.
Classification parse_best_tokens(std::string_view body);
std::optional<Classification> parse_option_scores(std::string_view body,
                                                  std::span<const TokenId> ids);

/// Some ids out of a wider answer, as log-probabilities among themselves.
Classification among(const Classification& all, std::span<const TokenId> ids);

/// Whether a (not streamed) completion holds a token. Throws `protocol_error` otherwise.
void check_first_token(std::string_view body);

}  // namespace llamavisor::server
