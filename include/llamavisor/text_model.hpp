/// \file
/// A loaded model.
#pragma once

#include <llamavisor/callback.hpp>
#include <llamavisor/decision.hpp>
#include <llamavisor/error.hpp>
#include <llamavisor/generate_options.hpp>
#include <llamavisor/load_options.hpp>
#include <llamavisor/token_stream.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace llamavisor {

/// One turn of a conversation. `role` as the model's template knows it: "system", "user",
/// "assistant".
struct Message {
  std::string role{};
  std::string content{};
};

/// What kind of model it is.
enum class ModelType {
  base,      ///< no chat template
  instruct,  ///< has one
};

/// "base", "instruct". Never throws.
std::string_view name(ModelType type) noexcept;

/// What a loaded model is. A plain value.
struct ModelInfo {
  std::string architecture{};
  std::string name{};
  std::string quantisation{};
  std::uint32_t vocabulary = 0;  ///< tokens
  std::uint32_t layers = 0;
  std::uint32_t hidden_size = 0;
  std::uint64_t parameters = 0;
  int context_length = 0;  ///< tokens for each slot
  int parallel = 0;        ///< slots
  std::string device{};    ///< that serves now
  std::string engine{};    ///< flavour of its pack
  int engine_build = 0;
  int gpu_layers = 0;  ///< of `gpu_layers_total`, on the GPU, as the server logs it
  int gpu_layers_total = 0;
  int generation = 0;  ///< server processes so far
};

/// Sums since the model was loaded. A plain value.
struct Metrics {
  std::uint64_t requests = 0;  ///< ended, in whatever way
  std::uint64_t failed_requests = 0;
  std::uint64_t prompt_tokens = 0;
  std::uint64_t generated_tokens = 0;
  double prompt_ms = 0;  ///< the server's own times
  double generate_ms = 0;
  double prompt_per_second = 0;
  double generate_per_second = 0;
  double last_first_token_ms = 0;   ///< of the last request, from the call to its first token
  std::uint64_t server_memory = 0;  ///< resident bytes of the server process
};

/// The life of a model, as a host sees it.
///
/// | state      | a request                 | `reload()`            | `close()`          |
/// |------------|---------------------------|-----------------------|--------------------|
/// | loading    | waits                     | waits for the load    | stops the load     |
/// | ready      | runs, or waits for a slot | starts a new server   | stops the server   |
/// | recovering | waits, then goes on       | waits for recovery    | stops the recovery |
/// | failed     | ends with `not_ready`     | starts a new server   | `closed`           |
/// | closing    | ends with `closed`        | throws `closed`       | waits              |
/// | closed     | ends with `closed`        | throws `closed`       | nothing            |
enum class ModelState { loading, ready, recovering, failed, closing, closed };

/// "loading", "ready", ... Never throws.
std::string_view name(ModelState state) noexcept;

/// The next token's log-probabilities.
struct Classification {
  std::vector<TokenLogprob> candidates{};  ///< best n, best first; or the ids asked for, in order
  int prompt_tokens = 0;
};

/// One answer of a batch: its own result, its own failure.
using BatchResult = std::vector<GenerateResult>;

namespace detail {
class ModelCore;
}

/// A handle to a loaded model; copies share it, and the last one closes it. All members may be
/// called from any thread, at the same time.
///
/// Errors are thrown as `Error`. Common to all requests: `not_ready`, `closed`, `busy`,
/// `server_died`, `server_error`, `wrong_process`.
class TextModel {
 public:
  explicit TextModel(std::shared_ptr<detail::ModelCore> core) noexcept;

  /// Called with each token on the caller's own thread; false ends the answer.
  using TokenHandler = Callback<bool(const Token&)>;

  /// Goes on from a text, tokenized as the stock server does it: with the model's BOS, and with
  /// special tokens parsed. Throws `invalid_option` before anything is sent.
  TokenStream generate(std::string_view prompt, const GenerateOptions& options = {}) const;

  /// Goes on from ids, taken as they are.
  TokenStream generate(std::span<const TokenId> prompt, const GenerateOptions& options = {}) const;

  /// The same, on the caller's thread, until the end.
  GenerateResult generate(std::string_view prompt, const GenerateOptions& options,
                          const TokenHandler& on_token, std::stop_token stop = {}) const;

  /// Answers a conversation, in the model's own template. A chat that reaches the end of the
  /// context ends with `FinishReason::length`.
  TokenStream chat(std::span<const Message> messages, const GenerateOptions& options = {}) const;

  /// The same, on the caller's thread, until the end.
  GenerateResult chat(std::span<const Message> messages, const GenerateOptions& options,
                      const TokenHandler& on_token, std::stop_token stop = {}) const;

  /// Answers many prompts at the same time, over the server's slots; results in their order. A
  /// failure stays with its own prompt: nothing is thrown because of the server.
  BatchResult generate_batch(std::span<const std::string> prompts,
                             const GenerateOptions& options = {}) const;

  /// The `best` most probable next tokens, with log-probabilities over the whole vocabulary.
  Classification classify(std::string_view prompt, int best) const;

  /// The log-probabilities of these ids as the next token, *among these ids*: they add up to one.
  Classification classify(std::string_view prompt, std::span<const TokenId> ids) const;

  /// How probable these texts are as what comes next: at least two, none empty, none twice, up to
  /// 255. Several tokens are multiplied up, without regard to what would follow and to their
  /// number. The prompt is tokenized as by `generate`, an option as plain text by itself. Throws
  /// `invalid_option`, `context_exceeded`.
  OptionScores score(std::string_view prompt, std::span<const std::string> options) const;

  /// Answers the questions of a case, one after the other on one slot; a model that decides by
  /// itself (`/v1/systemone`) is asked natively. When the server dies over it, the whole case is
  /// asked again of the next one, so that all numbers of a `Decision` are one device's. Throws
  /// `invalid_question`, `too_many_options`, `context_exceeded` (a prompt is never cut),
  /// `invalid_option`, `protocol_error` (a cache that the server does not keep as `Plan` needs it).
  Decision decide(const DecisionCase& asked, const DecideOptions& options = {}) const;

  /// Ids of a text. `add_special`: with BOS where the model wants it. `parse_special`: control
  /// tokens written out are that token.
  std::vector<TokenId> tokenize(std::string_view text, bool add_special = false,
                                bool parse_special = false) const;

  /// Text of ids. Bytes that are no UTF-8 come as U+FFFD.
  std::string detokenize(std::span<const TokenId> ids) const;

  /// The conversation as one text, in the model's own template, ready for an answer.
  std::string apply_template(std::span<const Message> messages) const;

  ModelType model_type() const;
  ModelInfo info() const;
  Metrics metrics() const;
  ModelState state() const;

  /// Starts a new server process, also out of `ModelState::failed`, on the model's file as it is
  /// now (`info()` tells it anew); returns when a real token came out of it. Requests in flight on
  /// the old one end with `server_died`. Throws as a load does; then the model has failed.
  void reload(std::stop_token stop = {}) const;

  /// Ends all requests with `closed`, stops the server (SIGTERM, the grace, SIGKILL) and waits for
  /// it: no longer than `Limits::stop_grace` + `Limits::reap` and a little. Does not throw.
  void close() const noexcept;

 private:
  std::shared_ptr<detail::ModelCore> core_;
};

}  // namespace llamavisor
