#include "model/completion_job.hpp"

#include "http/collect.hpp"
#include "server/completion_request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace llamavisor::model {

namespace {

constexpr std::size_t max_error_body = 64 * 1024;

double per_second(int count, double ms) {
  return ms > 0 ? count * 1000.0 / ms : 0;
}

}  // namespace

CompletionJob::CompletionJob(std::shared_ptr<supervisor::Supervisor> supervisor,
                             std::shared_ptr<detail::StreamSource> stream,
                             std::unique_ptr<PromptBuilder> prompt, GenerateOptions options,
                             Done done)
    : supervisor_(std::move(supervisor)),
      stream_(std::move(stream)),
      prompt_(std::move(prompt)),
      options_(std::move(options)),
      done_(std::move(done)),
      deadline_(*supervisor_->runtime()) {}

void CompletionJob::submit() {
  const auto weak = weak_from_this();
  stream_->set_hooks({.cancel =
                          [weak] {
                            if (const auto self = weak.lock()) self->cancel();
                          },
                      .resume =
                          [weak] {
                            const auto self = weak.lock();
                            if (self && self->exchange_) self->exchange_->resume_reading();
                          }});
  if (options_.deadline.count() > 0) {
    deadline_.arm(options_.deadline, [weak] {
      const auto self = weak.lock();
      if (!self) return;
      self->end_with({.code = errc::deadline_exceeded,
                      .message = fmt::format("the request's deadline of {} ms has passed",
                                             self->options_.deadline.count()),
                      .phase = self->phase()});
    });
  }
  supervisor_->submit(shared_from_this());
}

Phase CompletionJob::phase() const noexcept {
  return first_token_seen_ ? Phase::generation : Phase::prompt;
}

void CompletionJob::run(const supervisor::RunningServer& server) {
  server_ = server;
  result_.device = server.device;
  result_.engine_build = server.engine_build;
  prompt_->restart();
  prompt_->set_bos_text(server.bos_text);
  advance();
}

/// The next question of the prompt, or the completion.
void CompletionJob::advance() try {
  if (const auto question = prompt_->question()) return ask(*question);
  if (prompt_->ids().empty()) {
    return end_with({.code = errc::invalid_option,
                     .message = "the prompt has no token, and the model has no BOS to begin with: "
                                "give it at least one character",
                     .phase = Phase::prompt});
  }
  complete();
} catch (const Error& error) {
  end_with(error.failure());
}

void CompletionJob::ask(const server::ServerCall& question) {
  exchange_ =
      http::collect(supervisor_->runtime(), server_.endpoint, server_.request(question),
                    [self = shared_from_this()](http::Collected answer) {
                      self->exchange_.reset();
                      if (answer.end != http::End::complete) {
                        return self->supervisor_->lost_connection(*self, std::move(answer.detail));
                      }
                      if (answer.status != 200) {
                        return self->end_with(server::to_failure(
                            server::parse_error(answer.status, answer.body), Phase::prompt));
                      }
                      try {
                        self->prompt_->answer(answer.body);
                      } catch (const Error& error) {
                        return self->end_with(error.failure());
                      }
                      self->advance();
                    });
}

void CompletionJob::complete() {
  result_.prompt_tokens = static_cast<int>(prompt_->ids().size());
  parser_ = std::make_unique<server::CompletionStream>(server::CompletionStream::Handlers{
      .on_chunk = [this](server::CompletionChunk&& chunk) { on_chunk(std::move(chunk)); },
      .on_progress = [](const server::PromptProgress&) {},
      .on_end = [this](server::CompletionEnd&& end) { on_end(std::move(end)); },
      .on_error = [this](Failure&& failure) { end_with(std::move(failure)); }});
  const auto self = shared_from_this();
  exchange_ = http::Exchange::start(
      supervisor_->runtime(), server_.endpoint,
      server_.request(server::ask_completion(prompt_->ids(), options_)),
      {.on_head = [self](int status, std::string_view type) { self->on_head(status, type); },
       .on_body = [self](std::string_view bytes) { self->on_body(bytes); },
       .on_end = [self](http::End end,
                        std::string_view why) { self->on_connection_end(end, why); }});
}

void CompletionJob::on_head(int status, std::string_view content_type) {
  status_ = status;
  error_body_.clear();
  if (status == 200 && content_type.find("text/event-stream") == std::string_view::npos) {
    end_with({.code = errc::protocol_error,
              .message = fmt::format("llama-server answered a completion with {}, not with a "
                                     "stream of events; is this engine pack a stock build?",
                                     content_type.empty() ? "nothing" : content_type),
              .phase = Phase::prompt});
  }
}

void CompletionJob::on_body(std::string_view bytes) {
  if (ended_) return;
  if (status_ == 200) return parser_->feed(bytes);
  error_body_.append(
      bytes.substr(0, max_error_body - std::min(max_error_body, error_body_.size())));
}

void CompletionJob::on_connection_end(http::End end, std::string_view detail) {
  exchange_.reset();
  if (ended_) return;
  if (end != http::End::complete) return supervisor_->lost_connection(*this, std::string(detail));
  if (status_ != 200) {
    return end_with(server::to_failure(server::parse_error(status_, error_body_), Phase::prompt));
  }
  // A clean end of the body proves nothing: only the final event is a success.
  supervisor_->lost_connection(*this, "the stream ended without its final event");
}

void CompletionJob::on_chunk(server::CompletionChunk&& chunk) {
  if (ended_) return;
  if (!first_token_seen_) {
    first_token_seen_ = true;
    result_.timings.first_token_ms = since_start();
  }
  if (hits_stop_token(chunk)) {
    // The server goes on until it sees the connection close.
    result_.generated_tokens = chunk.tokens_predicted - 1;
    result_.token_ids_complete =
        static_cast<int>(result_.token_ids.size()) == result_.generated_tokens;
    return finish(FinishReason::stop);
  }
  result_.generated_tokens = chunk.tokens_predicted;
  result_.token_ids.insert(result_.token_ids.end(), chunk.ids.begin(), chunk.ids.end());
  deliver({.id = chunk.ids.empty() ? -1 : chunk.ids.back(),
           .text = std::move(chunk.text),
           .logprob = chunk.logprob,
           .top = std::move(chunk.top)});
}

bool CompletionJob::hits_stop_token(const server::CompletionChunk& chunk) const {
  return std::any_of(chunk.ids.begin(), chunk.ids.end(), [&](TokenId id) {
    return std::find(options_.stop_tokens.begin(), options_.stop_tokens.end(), id) !=
           options_.stop_tokens.end();
  });
}

void CompletionJob::deliver(Token token) {
  result_.text += token.text;
  if (!stream_->push(std::move(token)) && exchange_) exchange_->pause_reading();
}

void CompletionJob::on_end(server::CompletionEnd&& end) {
  if (ended_) return;
  if (!end.text.empty()) deliver({.text = std::move(end.text)});
  result_.prompt_tokens = std::max(result_.prompt_tokens, end.tokens_evaluated);
  result_.generated_tokens = end.tokens_predicted;
  result_.token_ids_complete = static_cast<int>(result_.token_ids.size()) == end.tokens_predicted;
  result_.stop_string = std::move(end.stop_string);
  auto& timings = result_.timings;
  timings.prompt_ms = end.prompt_ms;
  timings.generate_ms = end.generate_ms;
  timings.cached_tokens = end.cached_tokens;
  timings.prompt_per_second = per_second(end.tokens_evaluated - end.cached_tokens, end.prompt_ms);
  timings.generate_per_second = per_second(end.tokens_predicted, end.generate_ms);
  finish(end.reason);
}

void CompletionJob::cancel() {
  if (!ended_) finish(FinishReason::cancelled);
}

void CompletionJob::end_with(Failure failure) {
  if (ended_) return;
  failure.partial_text = result_.text;
  result_.failure = std::move(failure);
  finish(FinishReason::error);
}

void CompletionJob::finish(FinishReason reason) {
  const auto self = shared_from_this();
  ended_ = true;
  lose();
  deadline_.cancel();
  result_.finish_reason = reason;
  result_.timings.total_ms = since_start();
  supervisor_->finished(*this);
  if (done_) done_(result_);
  stream_->finish(std::move(result_));
}

void CompletionJob::lose() {
  if (exchange_) exchange_->abort();
  exchange_.reset();
}

void CompletionJob::fail(Failure failure) {
  end_with(std::move(failure));
}

double CompletionJob::since_start() const {
  return std::chrono::duration<double, std::milli>(Clock::now() - started_).count();
}

}  // namespace llamavisor::model
