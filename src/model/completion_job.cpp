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
                             std::shared_ptr<detail::StreamSource> stream, Request request,
                             Done done)
    : supervisor_(std::move(supervisor)),
      stream_(std::move(stream)),
      builder_(std::move(request.prompt)),
      options_(request.options),
      space_prefix_(request.space_prefix),
      done_(std::move(done)),
      continuation_(std::move(request.options),
                    [this](Token&& token) {
                      if (stream_->push(std::move(token)) || paused_ || !exchange_) return;
                      paused_ = true;
                      exchange_->pause_reading();
                      supervisor_->expectation_changed(*this);
                    }),
      stop_tokens_(options_.stop_tokens),
      deadline_(*supervisor_->runtime()) {}

void CompletionJob::submit() {
  const auto weak = weak_from_this();
  stream_->set_hooks({.cancel =
                          [weak] {
                            if (const auto self = weak.lock()) self->cancel();
                          },
                      .resume =
                          [weak] {
                            if (const auto self = weak.lock()) self->resume_reading();
                          }});
  if (options_.deadline.count() > 0) {
    deadline_.arm(options_.deadline, [weak, limit = options_.deadline] {
      const auto self = weak.lock();
      if (!self) return;
      self->end_with(
          {.code = errc::deadline_exceeded,
           .message = fmt::format("the request's deadline of {} ms has passed", limit.count()),
           .phase = self->phase()});
    });
  }
  supervisor_->submit(shared_from_this());
}

Phase CompletionJob::phase() const noexcept {
  return served_ ? Phase::generation : Phase::prompt;
}

supervisor::Expectation CompletionJob::expectation() const noexcept {
  if (paused_ || ended_) return supervisor::Expectation::nothing;
  return served_ ? supervisor::Expectation::generation : supervisor::Expectation::prompt;
}

void CompletionJob::run(const supervisor::RunningServer& server) {
  const bool same_device = server_.device == server.device;
  server_ = server;
  served_ = false;
  paused_ = false;
  if (continuation_.complete()) return finish(FinishReason::length);
  result_.device = server.device;
  result_.engine_build = server.engine_build;
  auto plan = continuation_.begin(server.generation, same_device);
  if (prompt_known_) return go_on(std::move(plan));
  builder_->restart();
  builder_->set_bos_text(server.bos_text);
  advance();
}

/// From the prompt's ids on, after what is known of the answer.
void CompletionJob::go_on(Continuation::Plan plan) {
  auto ids = prompt_ids_;
  ids.insert(ids.end(), plan.ids.begin(), plan.ids.end());
  options_ = std::move(plan.options);
  builder_ = continued(std::move(ids), std::move(plan.text), space_prefix_);
  advance();
}

/// The next question of the prompt, or the completion.
void CompletionJob::advance() try {
  if (const auto question = builder_->question()) return ask(*question);
  if (builder_->ids().empty()) {
    return end_with({.code = errc::invalid_option,
                     .message = "the prompt has no token, and the model has no BOS to begin with: "
                                "give it at least one character",
                     .phase = Phase::prompt});
  }
  if (!std::exchange(prompt_known_, true)) {
    prompt_ids_ = builder_->ids();
    result_.prompt_tokens = static_cast<int>(prompt_ids_.size());
  }
  // The old server would have ended here too: the context is full.
  const bool full = continuation_.tokens() > 0 && server_.context_length > 0 &&
                    static_cast<int>(builder_->ids().size()) >= server_.context_length;
  if (full) return finish(FinishReason::length);
  complete();
} catch (const Error& error) {
  end_with(error.failure());
}

void CompletionJob::ask(const server::ServerCall& question) {
  exchange_ =
      http::collect(supervisor_->runtime(), server_.endpoint, server_.request(question),
                    [self = shared_from_this()](const http::Collected& answer) {
                      self->exchange_.reset();
                      if (answer.end != http::End::complete) return self->broken(answer.detail);
                      if (answer.status != 200) {
                        return self->on_error(server::to_failure(
                            server::parse_error(answer.status, answer.body), Phase::prompt));
                      }
                      try {
                        self->builder_->answer(answer.body);
                      } catch (const Error& error) {
                        return self->end_with(error.failure());
                      }
                      self->advance();
                    });
}

void CompletionJob::complete() {
  parser_ = std::make_unique<server::CompletionStream>(server::CompletionStream::Handlers{
      .on_chunk = [this](server::CompletionChunk&& chunk) { on_chunk(std::move(chunk)); },
      .on_progress = [this](const server::PromptProgress&) { supervisor_->progressed(*this); },
      .on_end = [this](server::CompletionEnd&& end) { on_end(std::move(end)); },
      .on_error = [this](Failure&& failure) { on_error(std::move(failure)); }});
  const auto self = shared_from_this();
  exchange_ = http::Exchange::start(
      supervisor_->runtime(), server_.endpoint,
      server_.request(server::ask_completion(builder_->ids(), options_)),
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
  if (end != http::End::complete) return broken(detail);
  if (status_ != 200) {
    return on_error(server::to_failure(server::parse_error(status_, error_body_), Phase::prompt));
  }
  // A clean end of the body proves nothing: only the final event is a success.
  if (!parser_->finished()) broken("the stream ended without its final event");
}

void CompletionJob::broken(std::string_view detail) {
  supervisor_->connection_broke(
      shared_from_this(),
      {.code = errc::server_error,
       .message = fmt::format("the connection to llama-server broke in the middle of an answer "
                              "({}), though the server lives",
                              detail),
       .phase = phase()});
}

/// An error that the server itself told: the request's fault, or (5xx) perhaps its own.
void CompletionJob::on_error(Failure failure) {
  if (failure.http_status < 500) return end_with(std::move(failure));
  lose();
  supervisor_->server_failed(shared_from_this(), std::move(failure));
}

void CompletionJob::on_chunk(server::CompletionChunk&& chunk) {
  if (ended_) return;
  if (!std::exchange(served_, true)) {
    supervisor_->served(*this);
    if (result_.timings.first_token_ms == 0) result_.timings.first_token_ms = since_start();
  }
  supervisor_->progressed(*this);
  // The server goes on until it sees the connection close.
  if (hits_stop_token(chunk)) return finish(FinishReason::stop);
  if (!continuation_.take(std::move(chunk))) differs();
}

bool CompletionJob::hits_stop_token(const server::CompletionChunk& chunk) const {
  return std::any_of(chunk.ids.begin(), chunk.ids.end(), [&](TokenId id) {
    return std::find(stop_tokens_.begin(), stop_tokens_.end(), id) != stop_tokens_.end();
  });
}

void CompletionJob::on_end(server::CompletionEnd&& end) {
  if (ended_) return;
  if (!continuation_.finish(end)) return differs();
  result_.stop_string = std::move(end.stop_string);
  auto& timings = result_.timings;
  timings.prompt_ms = end.prompt_ms;
  timings.generate_ms = end.generate_ms;
  timings.cached_tokens = end.cached_tokens;
  timings.prompt_per_second = per_second(end.tokens_evaluated - end.cached_tokens, end.prompt_ms);
  timings.generate_per_second = per_second(end.tokens_predicted, end.generate_ms);
  finish(end.reason);
}

/// A regeneration went another way than what the consumer has seen.
void CompletionJob::differs() {
  lose();
  if (auto plan = continuation_.begin_by_text()) {
    served_ = false;
    // Not from within the parser, which is about to be replaced.
    supervisor_->runtime()->post([self = shared_from_this(), generation = server_.generation,
                                  plan = std::move(*plan)]() mutable {
      if (!self->ended_ && self->server_.generation == generation) self->go_on(std::move(plan));
    });
    return;
  }
  end_with({.code = errc::not_resumable,
            .message = "the server died, and the answer cannot go on: a grammar cannot be taken up "
                       "in the middle, and generating it again gave another text; send the request "
                       "again",
            .phase = Phase::generation});
}

void CompletionJob::resume_reading() {
  if (!std::exchange(paused_, false)) return;
  if (exchange_) exchange_->resume_reading();
  supervisor_->expectation_changed(*this);
}

void CompletionJob::cancel() {
  if (!ended_) finish(FinishReason::cancelled);
}

void CompletionJob::end_with(Failure failure) {
  if (ended_) return;
  failure.partial_text = continuation_.text();
  result_.failure = std::move(failure);
  finish(FinishReason::error);
}

void CompletionJob::finish(FinishReason reason) {
  const auto self = shared_from_this();
  ended_ = true;
  lose();
  deadline_.cancel();
  result_.text = continuation_.text();
  result_.token_ids = continuation_.ids();
  result_.token_ids_complete = continuation_.ids_complete();
  result_.generated_tokens = continuation_.tokens();
  result_.resumes = continuation_.resumes();
  result_.generations = 1 + static_cast<int>(result_.resumes.size());
  result_.exact = continuation_.exact();
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
