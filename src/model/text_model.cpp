#include <llamavisor/text_model.hpp>

#include "model/model_core.hpp"
#include "server/completion_request.hpp"

#include <algorithm>
#include <semaphore>
#include <set>

namespace llamavisor {

namespace {

GenerateResult run(TokenStream stream, const TextModel::TokenHandler& on_token,
                   const std::stop_token& stop) {
  const std::stop_callback on_stop(stop, [&] { stream.cancel(); });
  while (const auto token = stream.next()) {
    if (!on_token || on_token(*token)) continue;
    stream.cancel();
    break;
  }
  return stream.result_or_throw();
}

/// Answers of a batch that are under way or ready to go: enough to keep every slot busy.
std::ptrdiff_t batch_window(int slots) {
  return std::max(2 * slots, 4);
}

}  // namespace

void validate(const GenerateOptions& options) {
  server::check_options(options);
}

TextModel::TextModel(std::shared_ptr<detail::ModelCore> core) noexcept : core_(std::move(core)) {}

TokenStream TextModel::generate(std::string_view prompt, const GenerateOptions& options) const {
  server::require_utf8(prompt, "the prompt");
  return TokenStream(core_->start(model::from_text(std::string(prompt)), options));
}

TokenStream TextModel::generate(std::span<const TokenId> prompt,
                                const GenerateOptions& options) const {
  if (prompt.empty()) throw Error(errc::invalid_option, "a prompt of ids needs at least one id");
  return TokenStream(core_->start(model::from_ids({prompt.begin(), prompt.end()}), options));
}

GenerateResult TextModel::generate(std::string_view prompt, const GenerateOptions& options,
                                   const TokenHandler& on_token, std::stop_token stop) const {
  return run(generate(prompt, options), on_token, stop);
}

TokenStream TextModel::chat(std::span<const Message> messages,
                            const GenerateOptions& options) const {
  return TokenStream(core_->start(core_->chat_prompt(messages, options), options));
}

GenerateResult TextModel::chat(std::span<const Message> messages, const GenerateOptions& options,
                               const TokenHandler& on_token, std::stop_token stop) const {
  return run(chat(messages, options), on_token, stop);
}

BatchResult TextModel::generate_batch(std::span<const std::string> prompts,
                                      const GenerateOptions& options) const {
  // The window keeps a long batch from filling the queue of waiting requests. It outlives this
  // call: the last release may come after the last result.
  const auto window =
      std::make_shared<std::counting_semaphore<>>(batch_window(core_->status().slots));
  std::vector<std::shared_ptr<detail::StreamSource>> streams;
  streams.reserve(prompts.size());
  for (const auto& prompt : prompts)
    server::require_utf8(prompt, "a prompt");
  for (const auto& prompt : prompts) {
    window->acquire();
    streams.push_back(
        core_->start(model::from_text(prompt), options, false, [window] { window->release(); }));
  }
  BatchResult results;
  results.reserve(streams.size());
  for (const auto& stream : streams)
    results.push_back(stream->result());
  return results;
}

Classification TextModel::classify(std::string_view prompt, int best) const {
  if (best < 1 || best > 1000) {
    throw Error(errc::invalid_option, "classify(): best must be from 1 to 1000");
  }
  const auto ids = tokenize(prompt, true, true);
  return core_->best_tokens(ids, best);
}

Classification TextModel::classify(std::string_view prompt, std::span<const TokenId> ids) const {
  std::vector<TokenId> sorted(ids.begin(), ids.end());
  std::sort(sorted.begin(), sorted.end());
  const bool distinct = std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
  if (ids.size() < 2 || !distinct || sorted.front() < 0) {
    throw Error(errc::invalid_option,
                "classify(): give at least two ids, none of them twice or negative");
  }
  const auto prompt_ids = tokenize(prompt, true, true);
  const auto body = core_->ask(server::ask_option_scores(prompt_ids, ids), true);
  if (auto scores = server::parse_option_scores(body, ids)) return std::move(*scores);
  // The slow way, over the whole vocabulary: the best of these ids is only part of a character.
  return server::among(core_->best_tokens(prompt_ids, static_cast<int>(core_->file()->vocabulary)),
                       ids);
}

OptionScores TextModel::score(std::string_view prompt, std::span<const std::string> options) const {
  server::require_utf8(prompt, "the prompt");
  const std::set<std::string_view> distinct(options.begin(), options.end());
  if (options.size() < 2 || options.size() > 255 || distinct.size() < options.size() ||
      distinct.contains("")) {
    throw Error(errc::invalid_option,
                "score(): give from 2 to 255 options, none of them empty or twice");
  }
  for (const auto& option : options)
    server::require_utf8(option, "an option");
  return core_->score(prompt, options);
}

Decision TextModel::decide(const DecisionCase& asked, const DecideOptions& options) const {
  return core_->decide(asked, options);
}

std::vector<TokenId> TextModel::tokenize(std::string_view text, bool add_special,
                                         bool parse_special) const {
  server::require_utf8(text, "the text");
  return server::parse_tokens(core_->ask(server::ask_tokenize(text, add_special, parse_special)));
}

std::string TextModel::detokenize(std::span<const TokenId> ids) const {
  return server::parse_content(core_->ask(server::ask_detokenize(ids)));
}

std::string TextModel::apply_template(std::span<const Message> messages) const {
  return server::parse_prompt(core_->ask(server::ask_apply_template(messages)));
}

ModelType TextModel::model_type() const {
  return core_->file()->chat_template.empty() ? ModelType::base : ModelType::instruct;
}

ModelInfo TextModel::info() const {
  const auto status = core_->status();
  ModelInfo info{.architecture = status.file->architecture,
                 .name = status.file->name,
                 .quantisation = status.file->quantisation,
                 .vocabulary = status.file->vocabulary,
                 .layers = status.file->layers,
                 .hidden_size = status.file->hidden_size,
                 .parameters = status.file->parameters,
                 .context_length = status.context_length,
                 .parallel = status.slots,
                 .device = status.device,
                 .engine = status.engine,
                 .engine_build = status.engine_build,
                 .generation = status.generation};
  if (status.layers) {
    info.gpu_layers = status.layers->on_gpu;
    info.gpu_layers_total = status.layers->total;
  }
  return info;
}

Metrics TextModel::metrics() const {
  return core_->metrics();
}
ModelState TextModel::state() const {
  return core_->status().state;
}
void TextModel::reload(std::stop_token stop) const {
  core_->reload(stop);
}
void TextModel::close() const noexcept {
  core_->close();
}

}  // namespace llamavisor
