#include "model/model_core.hpp"

#include "model/completion_job.hpp"
#include "model/question_job.hpp"
#include "server/completion_request.hpp"

#include <algorithm>
#include <cctype>
#include <future>
#include <utility>

namespace llamavisor::detail {

struct ModelCore::Totals {
  std::mutex mutex;
  Metrics metrics;

  void add(const GenerateResult& result) {
    const std::lock_guard lock(mutex);
    ++metrics.requests;
    if (result.failure) ++metrics.failed_requests;
    metrics.prompt_tokens += static_cast<std::uint64_t>(result.prompt_tokens);
    metrics.generated_tokens += static_cast<std::uint64_t>(result.generated_tokens);
    metrics.prompt_ms += result.timings.prompt_ms;
    metrics.generate_ms += result.timings.generate_ms;
    if (result.timings.first_token_ms > 0) {
      metrics.last_first_token_ms = result.timings.first_token_ms;
    }
    timed_prompt_tokens += result.timings.prompt_per_second * result.timings.prompt_ms / 1000;
    timed_tokens += result.timings.generate_per_second * result.timings.generate_ms / 1000;
  }

  // Of requests that reached their end: only these have the server's times.
  double timed_prompt_tokens = 0;
  double timed_tokens = 0;
};

ModelCore::ModelCore(std::shared_ptr<Runtime> runtime, supervisor::Settings settings)
    : runtime_(std::move(runtime)),
      paths_(settings.rungs.front().server.paths),
      exact_scores_(settings.rungs.front().server.exact_scores),
      supervisor_(std::make_shared<supervisor::Supervisor>(runtime_, std::move(settings))),
      totals_(std::make_shared<Totals>()) {}

ModelCore::~ModelCore() {
  close();
  // The supervisor's state belongs to the runtime thread: it goes there.
  if (runtime_->in_own_process()) runtime_->post([supervisor = std::move(supervisor_)] {});
}

void ModelCore::require_own_process() const {
  if (runtime_->in_own_process()) return;
  throw Error(errc::wrong_process,
              "this model belongs to the process that forked: load one in the child");
}

void ModelCore::reload(const std::stop_token& stop) {
  require_own_process();
  load(supervisor::ModelFile::read(paths_), stop);
}

void ModelCore::load(std::shared_ptr<const supervisor::ModelFile> file,
                     const std::stop_token& stop) {
  require_own_process();
  // Shared, here and below: the waiting thread may be gone before `set_value` has returned.
  const auto answer = std::make_shared<std::promise<std::optional<Failure>>>();
  auto loaded = answer->get_future();
  runtime_->post([supervisor = supervisor_, answer, file = std::move(file)]() mutable {
    supervisor->load(
        [answer](std::optional<Failure> failure) { answer->set_value(std::move(failure)); },
        std::move(file));
  });
  const std::stop_callback on_stop(
      stop, [&] { runtime_->post([supervisor = supervisor_] { supervisor->abandon_load(); }); });
  if (auto failure = loaded.get()) throw Error(std::move(*failure));
}

void ModelCore::close() noexcept {
  if (!runtime_->in_own_process()) return;
  const auto answer = std::make_shared<std::promise<void>>();
  auto closed = answer->get_future();
  runtime_->post(
      [supervisor = supervisor_, answer] { supervisor->close([answer] { answer->set_value(); }); });
  closed.wait();
  drain_events();
}

/// After `close()` no event comes any more: a handler may hold what the host then destroys.
void ModelCore::drain_events() noexcept {
  if (runtime_->on_event_thread()) return;
  const auto marker = std::make_shared<std::promise<void>>();
  auto passed = marker->get_future();
  runtime_->post_event([marker] { marker->set_value(); });
  passed.wait();
}

std::shared_ptr<StreamSource> ModelCore::start(std::unique_ptr<model::PromptBuilder> prompt,
                                               const GenerateOptions& options, bool keep_tokens,
                                               std::function<void()> on_end) {
  require_own_process();
  server::check_options(options);
  auto stream = std::make_shared<StreamSource>(runtime_, keep_tokens);
  auto job = std::make_shared<model::CompletionJob>(
      supervisor_, stream,
      model::CompletionJob::Request{
          .prompt = std::move(prompt), .options = options, .space_prefix = space_prefix()},
      [totals = totals_, on_end = std::move(on_end)](const GenerateResult& result) {
        totals->add(result);
        if (on_end) on_end();
      });
  runtime_->post([job = std::move(job)] { job->submit(); });
  return stream;
}

std::string ModelCore::ask(server::ServerCall call, bool needs_slot) {
  require_own_process();
  const auto answer =
      std::make_shared<std::promise<std::pair<std::optional<Failure>, std::string>>>();
  auto done = answer->get_future();
  runtime_->post([supervisor = supervisor_, call = std::move(call), needs_slot, answer]() mutable {
    supervisor->submit(std::make_shared<model::QuestionJob>(
        supervisor, std::move(call), needs_slot,
        [answer](std::optional<Failure> failure, std::string body) {
          answer->set_value({std::move(failure), std::move(body)});
        }));
  });
  auto [failure, body] = done.get();
  if (failure) throw Error(std::move(*failure));
  return std::move(body);
}

Classification ModelCore::best_tokens(std::span<const TokenId> prompt, int best) {
  const auto text_token = server::parse_tokens(ask(server::ask_tokenize("a", false, false)));
  if (text_token.empty()) throw Error(errc::invalid_model, "the model has no token for \"a\"");
  return server::parse_best_tokens(
      ask(server::ask_best_tokens(prompt, best, text_token.back()), true));
}

std::unique_ptr<model::PromptBuilder> ModelCore::chat_prompt(std::span<const Message> messages,
                                                             const GenerateOptions& options) const {
  if (messages.empty()) throw Error(errc::invalid_option, "chat() needs at least one message");
  for (const auto& message : messages) {
    server::require_utf8(message.content, "Message::content");
    const bool plain = std::all_of(message.role.begin(), message.role.end(), [](unsigned char c) {
      return std::isalnum(c) || c == '_' || c == '-';
    });
    if (message.role.empty() || !plain) {
      throw Error(errc::invalid_option,
                  "Message::role must be letters, digits, '_' or '-', such as \"user\"");
    }
  }
  return model::from_chat({messages.begin(), messages.end()}, options.special_tokens_in_text,
                          space_prefix());
}

Metrics ModelCore::metrics() {
  require_own_process();
  const auto answer = std::make_shared<std::promise<std::uint64_t>>();
  auto memory = answer->get_future();
  runtime_->post(
      [supervisor = supervisor_, answer] { answer->set_value(supervisor->server_memory()); });
  const auto server_memory = memory.get();
  const std::lock_guard lock(totals_->mutex);
  auto metrics = totals_->metrics;
  metrics.server_memory = server_memory;
  if (metrics.prompt_ms > 0) {
    metrics.prompt_per_second = totals_->timed_prompt_tokens * 1000 / metrics.prompt_ms;
  }
  if (metrics.generate_ms > 0) {
    metrics.generate_per_second = totals_->timed_tokens * 1000 / metrics.generate_ms;
  }
  return metrics;
}

}  // namespace llamavisor::detail
