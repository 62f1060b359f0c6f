/// \file
/// Tokens as they come.
#pragma once

#include <llamavisor/error.hpp>
#include <llamavisor/generate_options.hpp>

#include <cstddef>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llamavisor {

struct TokenLogprob {
  TokenId id = -1;
  std::string text{};
  double logprob = 0;  ///< natural logarithm, over the whole vocabulary before any sampler
};

/// One event of the stream. The server holds text back until it is valid UTF-8 and certainly not
/// the start of a stop string; a token may therefore come with empty text, and a text may stand
/// for several tokens, of which the server names only the last.
struct Token {
  TokenId id = -1;                  ///< -1 where the server names none
  std::string text{};               ///< UTF-8
  std::optional<double> logprob{};  ///< when `GenerateOptions::logprobs` asked for it
  std::vector<TokenLogprob> top{};  ///< best n, best first
};

enum class FinishReason {
  stop,         ///< the model ended its answer
  stop_string,  ///< one of `GenerateOptions::stop`
  length,       ///< `max_tokens`, or the end of the context
  cancelled,
  error  ///< `GenerateResult::failure` says which
};

/// "stop", "stop_string", "length", "cancelled", "error". Never throws.
std::string_view name(FinishReason reason) noexcept;

/// Times of one request. Milliseconds; rates in tokens per second, 0 where nothing was measured.
struct Timings {
  double prompt_ms = 0;       ///< the server's own, without what its cache held
  double generate_ms = 0;     ///< the server's own
  double first_token_ms = 0;  ///< from the call to the first token, as the caller sees it
  double total_ms = 0;        ///< from the call to the end, as the caller sees it
  int cached_tokens = 0;      ///< of the prompt, found in the slot's cache
  double prompt_per_second = 0;
  double generate_per_second = 0;
};

/// How an answer went on after its server process had died.
enum class ResumeWay {
  replayed,         ///< nothing had been delivered: the request ran again
  by_ids,           ///< from the ids whose text had been delivered: the same ids go on
  by_regeneration,  ///< generated again up to what had been delivered, which it repeated exactly
  by_text           ///< what had been delivered was tokenized anew: no character is lost or
                    ///< doubled, but the ids may be others (`GenerateResult::exact` is false)
};

/// "replayed", "by_ids", "by_regeneration", "by_text". Never throws.
std::string_view name(ResumeWay way) noexcept;

/// One resume: which generation of the server took over, how, and after how much text.
struct Resume {
  int generation = 0;
  ResumeWay way = ResumeWay::replayed;
  std::size_t text_bytes = 0;
};

struct GenerateResult {
  std::string text{};                ///< all of it, as delivered
  std::vector<TokenId> token_ids{};  ///< those that the server named
  bool token_ids_complete = true;    ///< false where it left out some: see `Token`
  int prompt_tokens = 0;
  int generated_tokens = 0;  ///< the server's count, held-back ones included
  FinishReason finish_reason = FinishReason::error;
  std::string stop_string{};  ///< which of `GenerateOptions::stop` ended it
  std::string device{};       ///< that gave the last token
  int engine_build = 0;
  std::vector<Resume> resumes{};  ///< one for each server process after the first
  int generations = 1;            ///< server processes that took part
  bool exact = true;              ///< false where a resume changed ids: see the guide
  Timings timings{};
  std::optional<Failure> failure{};  ///< exactly when `finish_reason` is `error`
};

namespace detail {
class StreamSource;
}

/// The tokens of one answer: a move-only input range with one consumer.
///
/// | call      | while tokens come            | after the last token | after `cancel()`    |
/// |-----------|------------------------------|----------------------|---------------------|
/// | `next()`  | waits, then the next token   | empty, at once       | empty, at once      |
/// | `result()`| waits for the end            | the result           | `cancelled`         |
/// | `cancel()`| ends the answer              | nothing              | nothing             |
/// | `~`       | as `cancel()`, does not wait |                      |                     |
///
/// A slow consumer slows the server down; nothing is dropped and nothing piles up. One thread at a
/// time may call `next()` and `result()`; `cancel()` may be called from any thread.
class TokenStream {
 public:
  class iterator;

  explicit TokenStream(std::shared_ptr<detail::StreamSource> source) noexcept;
  TokenStream(TokenStream&&) noexcept;
  TokenStream& operator=(TokenStream&&) noexcept;
  ~TokenStream();

  /// The next token, or empty at the end, for whatever reason it ended: `result()` tells which.
  /// Never throws because of the server.
  std::optional<Token> next();

  /// Ends the answer. The server's slot is free within two seconds.
  void cancel() noexcept;

  /// How it ended. Takes in, and drops, tokens not yet read with `next()`; their text is in the
  /// result all the same.
  const GenerateResult& result();

  /// As `result()`, but throws `Error` where it ended in an error.
  const GenerateResult& result_or_throw();

  iterator begin();
  std::default_sentinel_t end() const noexcept { return {}; }

 private:
  std::shared_ptr<detail::StreamSource> source_{};
};

/// Input iterator over a `TokenStream`; lives no longer than the stream.
class TokenStream::iterator {
 public:
  using value_type = Token;
  using difference_type = std::ptrdiff_t;

  iterator() = default;
  explicit iterator(TokenStream& stream) : stream_(&stream) { ++*this; }

  const Token& operator*() const noexcept { return *token_; }
  const Token* operator->() const noexcept { return &*token_; }
  iterator& operator++() {
    token_ = stream_->next();
    return *this;
  }
  void operator++(int) { ++*this; }
  friend bool operator==(const iterator& it, std::default_sentinel_t) noexcept {
    return !it.token_;
  }

 private:
  TokenStream* stream_ = nullptr;
  std::optional<Token> token_{};
};

inline TokenStream::iterator TokenStream::begin() {
  return iterator(*this);
}

}  // namespace llamavisor
