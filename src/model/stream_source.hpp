/// \file
/// The bounded queue between the runtime thread and the consumer of one stream.
#pragma once

#include <llamavisor/token_stream.hpp>

#include "runtime/runtime.hpp"

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

namespace llamavisor::detail {

/// One producer (the runtime thread), one consumer (the host's thread).
class StreamSource {
 public:
  struct Hooks {
    std::function<void()> cancel;  ///< posted to the runtime thread
    std::function<void()> resume;  ///< posted when a full queue has been emptied to half
  };

  /// `keep_tokens` false: tokens are dropped at once, and only the result is wanted.
  explicit StreamSource(std::shared_ptr<Runtime> runtime, bool keep_tokens = true)
      : runtime_(std::move(runtime)), keep_tokens_(keep_tokens) {}

  // The producer's side, on the runtime thread.
  void set_hooks(Hooks hooks);
  /// False when the queue is full: the producer should pause. The token is taken all the same.
  bool push(Token token);
  void finish(GenerateResult result);

  // The consumer's side: see `TokenStream`.
  std::optional<Token> next();
  void cancel() noexcept;
  const GenerateResult& result();

 private:
  static constexpr std::size_t high_water = 256;

  bool forked() noexcept;

  std::shared_ptr<Runtime> runtime_;
  bool keep_tokens_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Hooks hooks_;
  std::deque<Token> tokens_;
  std::optional<GenerateResult> result_;
  bool paused_ = false;
  bool cancelled_ = false;
};

}  // namespace llamavisor::detail
