/// \file
/// The answer of `/completion` as it comes: bytes in, tokens out. Sans-IO.
#pragma once

#include <llamavisor/token_stream.hpp>

#include "http/sse_parser.hpp"
#include "server/server_call.hpp"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace llamavisor::server {

/// One streamed piece of text with the ids that the server names for it.
struct CompletionChunk {
  std::string text{};
  std::vector<TokenId> ids{};
  int tokens_predicted = 0;         ///< so far, held-back ones included
  std::optional<double> logprob{};  ///< of the last id
  std::vector<TokenLogprob> top{};
};

/// How far the prompt has been computed.
struct PromptProgress {
  int total = 0;
  int cached = 0;
  int processed = 0;
};

/// The last event.
struct CompletionEnd {
  FinishReason reason = FinishReason::stop;
  std::string stop_string{};
  std::string text{};  ///< what was still held back, normally nothing
  int tokens_predicted = 0;
  int tokens_evaluated = 0;
  int cached_tokens = 0;
  double prompt_ms = 0;
  double generate_ms = 0;
};

/// Parses one streamed answer. Any cut of the same bytes gives the same calls.
///
/// A stream is a success only after `on_end`: an error event, an older server's `error:` line, or
/// bytes that are no such stream come as `on_error`, and nothing comes after either.
class CompletionStream {
 public:
  struct Handlers {
    std::function<void(CompletionChunk&&)> on_chunk;
    std::function<void(const PromptProgress&)> on_progress;
    std::function<void(CompletionEnd&&)> on_end;
    std::function<void(Failure&&)> on_error;
  };

  explicit CompletionStream(Handlers handlers);
  ~CompletionStream();

  void feed(std::string_view bytes);

  /// `on_end` or `on_error` was called.
  bool finished() const noexcept;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace llamavisor::server
