/// \file
/// One streamed answer.
#pragma once

#include "http/exchange.hpp"
#include "model/continuation.hpp"
#include "model/prompt_builder.hpp"
#include "model/stream_source.hpp"
#include "runtime/timer.hpp"
#include "server/completion_stream.hpp"
#include "supervisor/supervisor.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace llamavisor::model {

/// Builds the prompt, asks for the completion, hands the tokens to a `StreamSource`, goes on on the
/// next server when one dies, and keeps the account. Ends exactly once.
class CompletionJob final : public supervisor::Job,
                            public std::enable_shared_from_this<CompletionJob> {
 public:
  using Done = std::function<void(const GenerateResult&)>;

  struct Request {
    std::unique_ptr<PromptBuilder> prompt{};
    GenerateOptions options{};
    bool space_prefix = false;  ///< of the model's tokenizer: see `from_chat`
  };

  CompletionJob(std::shared_ptr<supervisor::Supervisor> supervisor,
                std::shared_ptr<detail::StreamSource> stream, Request request, Done done);

  /// Connects the stream's hooks, sets the deadline and queues up.
  void submit();

  bool needs_slot() const noexcept override { return true; }
  Phase phase() const noexcept override;
  supervisor::Expectation expectation() const noexcept override;
  void run(const supervisor::RunningServer& server) override;
  void lose() override;
  void fail(Failure failure) override;

 private:
  using Clock = std::chrono::steady_clock;

  void advance();
  void ask(const server::ServerCall& question);
  void go_on(Continuation::Plan plan);
  void complete();
  void on_head(int status, std::string_view content_type);
  void on_body(std::string_view bytes);
  void on_connection_end(http::End end, std::string_view detail);
  void on_chunk(server::CompletionChunk&& chunk);
  void on_end(server::CompletionEnd&& end);
  void on_error(Failure failure);
  void differs();
  bool hits_stop_token(const server::CompletionChunk& chunk) const;
  void broken(std::string_view detail);
  void cancel();
  void resume_reading();
  void end_with(Failure failure);
  void finish(FinishReason reason);
  double since_start() const;

  std::shared_ptr<supervisor::Supervisor> supervisor_;
  std::shared_ptr<detail::StreamSource> stream_;
  std::unique_ptr<PromptBuilder> builder_;  // of the prompt, then of what goes on after it
  GenerateOptions options_;                 // of the current server
  bool space_prefix_;
  Done done_;
  Continuation continuation_;
  std::vector<TokenId> stop_tokens_;
  std::vector<TokenId> prompt_ids_;  // empty until they are known
  bool prompt_known_ = false;
  Timer deadline_;
  supervisor::RunningServer server_;
  std::shared_ptr<http::Exchange> exchange_;
  std::unique_ptr<server::CompletionStream> parser_;
  int status_ = 0;
  std::string error_body_;
  GenerateResult result_;
  Clock::time_point started_ = Clock::now();
  bool served_ = false;  // the current server gave a token
  bool paused_ = false;
  bool ended_ = false;
};

}  // namespace llamavisor::model
