/// \file
/// How an answer is sampled and when it ends.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace llamavisor {

using TokenId = std::int32_t;

/// One aggregate; every member has its default. Checked before anything is sent:
/// `errc::invalid_option` names the member. Where nothing is said here, the server's own default
/// holds (llama.cpp's sampler chain).
struct GenerateOptions {
  int max_tokens = 0;                      ///< 0 = until the context ends
  std::optional<double> temperature{};     ///< 0 = greedy; unset = the server's default (0.8)
  std::optional<int> top_k{};              ///< 0 = off
  std::optional<double> top_p{};           ///< (0, 1]; 1 = off
  std::optional<double> min_p{};           ///< [0, 1]; 0 = off
  std::optional<std::uint32_t> seed{};     ///< unset = random
  std::optional<double> repeat_penalty{};  ///< > 0; 1 = off
  std::vector<std::string> stop{};         ///< the answer ends before the first of these
  std::vector<TokenId> stop_tokens{};      ///< the answer ends before the first of these ids
  int logprobs = 0;                        ///< best n alternatives of each token; 0 = none
  std::string grammar{};                   ///< GBNF; empty = none
  std::string json_schema{};               ///< a JSON schema; empty = none; not with `grammar`
  bool ignore_eos = false;                 ///< go on past the end of the text; not with a grammar
  bool cache_prompt = true;                ///< reuse what a slot already has of the prompt

  /// Whether control tokens written out in a chat message ("<|im_end|>") are that token. By
  /// default they are text, so that a message cannot end its own turn.
  bool special_tokens_in_text = false;

  /// The request fails with `errc::deadline_exceeded` when it takes longer; 0 = no deadline.
  std::chrono::milliseconds deadline{0};
};

/// Throws `Error`, `invalid_option`, which names the member and its range: as every request does,
/// for hosts that want to know before a load that takes minutes. What only the server can tell (a
/// grammar that is none) is not looked at. Any thread.
void validate(const GenerateOptions& options);

}  // namespace llamavisor
