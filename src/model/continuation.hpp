/// \file
/// How an answer goes on when its server has died. A sans-IO state machine.
#pragma once

#include <llamavisor/token_stream.hpp>

#include "server/completion_stream.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace llamavisor::model {

/// The account of one answer over all its servers: what came, what was let through, and from where
/// the next server goes on.
///
/// A server leaves out the ids of text that it held back, and sends ids without text while that
/// text may be the start of a stop string. So the account keeps *safe points*: after how many
/// tokens all ids are known and all their text was let through. The ways (see `ResumeWay`):
///
/// 1. `by_ids`: the safe point is the very end of what was let through: prompt + ids, and on.
/// 2. `by_regeneration`: it lies further back: on from there, and nothing is let through until the
///    new text has repeated the old one byte for byte. Also from the very start, for grammars,
///    where a server cannot begin in the middle.
/// 3. `by_text`: the new text differs, or sampling is random anyway: the text since the safe point
///    is tokenized anew. Not for grammars.
///
/// Where none is left, the answer cannot go on (`errc::not_resumable`). With random sampling the
/// seed of a resumed answer is the caller's seed plus the number of resumes times 0x9E3779B9 (mod
/// 2^32): the old seed would repeat the old random numbers at other places.
class Continuation {
 public:
  using LetThrough = std::function<void(Token&&)>;

  /// `let_through` is called with each token that the consumer is to see.
  Continuation(GenerateOptions options, LetThrough let_through);

  /// What to send to the next server.
  struct Plan {
    std::vector<TokenId> ids{};  ///< go after the prompt's
    std::string text{};          ///< to be tokenized; its ids go after them; empty = none
    GenerateOptions options{};   ///< with what is left of `max_tokens`, and the seed
  };

  /// Goes on on a server, the first or the next. `same_device` as the one before: only then can a
  /// regeneration be expected to repeat.
  Plan begin(int generation, bool same_device);

  /// The way by text, on the same server, after a regeneration that differed. Empty: not for this
  /// answer, which cannot go on then.
  std::optional<Plan> begin_by_text();

  /// A piece that came. False: a regeneration differs from what was let through.
  bool take(server::CompletionChunk&& chunk);

  /// The last event. False: a regeneration ended before it had repeated what was let through.
  bool finish(server::CompletionEnd& end);

  /// All of `max_tokens` were let through: only the last event is missing.
  bool complete() const noexcept;

  const std::string& text() const noexcept { return text_; }
  const std::vector<TokenId>& ids() const noexcept { return ids_; }
  bool ids_complete() const noexcept { return static_cast<int>(ids_.size()) == tokens_; }
  int tokens() const noexcept { return tokens_; }
  bool exact() const noexcept { return exact_; }
  const std::vector<Resume>& resumes() const noexcept { return resumes_; }

 private:
  struct Held {
    std::vector<TokenId> ids;
    Token token;
  };

  bool has_grammar() const noexcept;
  bool deterministic() const noexcept;
  Plan plan(ResumeWay way, int known_tokens);
  Plan plan_by_text();
  void pass_on(Held&& held, int tokens);
  bool repeat(server::CompletionChunk&& chunk);

  GenerateOptions options_;
  LetThrough let_through_;
  std::string text_;          // let through
  std::vector<TokenId> ids_;  // of it, those that were named
  int tokens_ = 0;            // of it, all
  int safe_tokens_ = 0;       // ids_[0, safe_tokens_) stand for text_[0, safe_bytes_)
  std::size_t safe_bytes_ = 0;
  std::vector<Held> held_;  // came without text: not let through before text follows
  int base_tokens_ = 0;     // before this server's first
  bool repeating_ = false;
  std::size_t repeated_ = 0;  // how much of text_ is there again
  bool exact_ = true;
  std::vector<Resume> resumes_;
  int generation_ = 0;
};

}  // namespace llamavisor::model
