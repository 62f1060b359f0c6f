// Scores and decisions: a case's prompts on the caller's thread, its rows on the runtime thread.
#include "model/model_core.hpp"
#include "scoring/answers.hpp"
#include "scoring/case_prompts.hpp"
#include "scoring/check_case.hpp"
#include "scoring/native.hpp"
#include "scoring/prompt_format.hpp"

#include <algorithm>
#include <future>
#include <utility>

namespace llamavisor::detail {

namespace {

constexpr int not_supported = 501;

Answer make_answer(const Question& question, const scoring::AskedRow& row,
                   const std::vector<double>& logits, const DecideOptions& options) {
  Answer answer{.question = question.id, .type = question.type, .option_logits = logits};
  const double t = scoring::temperature(options.calibration, question.type, logits.size());
  answer.probabilities = scoring::probabilities(logits, t);
  scoring::fill_in(answer);
  if (options.keep_prompts) {
    answer.prompt = row.ids;
    answer.candidates = row.options;
  }
  return answer;
}

}  // namespace

scoring::Tokenizer ModelCore::tokenizer() {
  return {[this](server::ServerCall call) { return ask(std::move(call)); }, space_prefix()};
}

scoring::ScoreJob::Outcome ModelCore::run_plan(scoring::RowPlan plan) {
  require_own_process();
  using Outcome = scoring::ScoreJob::Outcome;
  const auto answer = std::make_shared<std::promise<Outcome>>();
  auto done = answer->get_future();
  const auto job = std::make_shared<scoring::ScoreJob>(
      supervisor_, std::move(plan), [answer](std::optional<Failure> failure, Outcome outcome) {
        if (failure) {
          answer->set_exception(std::make_exception_ptr(Error(std::move(*failure))));
        } else {
          answer->set_value(std::move(outcome));
        }
      });
  runtime_->post([supervisor = supervisor_, job] { supervisor->submit(job); });
  return done.get();
}

std::optional<Decision> ModelCore::decide_natively(const DecisionCase& asked) {
  const auto model = file();
  const auto known = frames_.decides_natively(model);
  if (known == false) return std::nullopt;
  try {
    auto decision = scoring::parse_native(asked, ask(scoring::ask_native(asked), true));
    frames_.set_decides_natively(model, true);
    const auto now = status();
    decision.device = now.device;
    decision.engine_build = now.engine_build;
    return decision;
  } catch (const Error& error) {
    const auto status = error.failure().http_status;
    // 404: a build that does not know of such models.
    if (known || (status != not_supported && status != 404)) throw;
  }
  frames_.set_decides_natively(model, false);
  return std::nullopt;
}

Decision ModelCore::decide(const DecisionCase& asked, const DecideOptions& options) {
  scoring::check_case(asked);
  scoring::check_calibration(options.calibration);
  const auto& format = options.format ? *options.format : default_format();
  scoring::check_format(format);
  if (auto decision = decide_natively(asked)) return std::move(*decision);
  const auto model = file();
  const auto frame = frames_.get(
      model, format, [&] { return std::make_shared<scoring::PromptFrame>(format, tokenizer()); });
  auto rows = scoring::case_rows(asked, *frame);
  scoring::check_lengths(rows, status().context_length);
  const bool keeps_cache = exact_scores_ && !model->recurrent;
  auto outcome = run_plan(
      {std::move(rows),
       keeps_cache ? options.plan : Plan::cold,
       {.vocabulary = static_cast<int>(model->vocabulary), .text_token = frame->text_token()}});
  const auto& plan = outcome.plan;
  Decision decision{.input_tokens = scoring::input_tokens(plan.rows(), plan.shared()),
                    .device = outcome.device,
                    .engine_build = outcome.engine_build,
                    .plan = plan.plan(),
                    .servers = outcome.servers};
  for (std::size_t at = 0; at < asked.questions.size(); ++at) {
    const auto& row = plan.rows()[at];
    decision.answers.push_back(make_answer(asked.questions[at], row, plan.results()[at], options));
    if (options.keep_prompts) decision.answers.back().shared = plan.shared();
    if (!row.single_tokens()) decision.way = DecisionWay::option_text;
  }
  return decision;
}

OptionScores ModelCore::score(std::string_view prompt, std::span<const std::string> options) {
  const auto model = file();
  const auto tokens = tokenizer();
  const std::string letter = "a";
  const auto text_token = tokens.inside({&letter, 1}, false).front();
  if (text_token.empty()) throw Error(errc::invalid_model, "the model has no token for \"a\"");
  std::vector<scoring::AskedRow> rows{scoring::option_row(prompt, options, tokens)};
  scoring::check_lengths(rows, status().context_length);
  OptionScores scores{.prompt_tokens = static_cast<int>(rows.front().ids.size())};
  for (const auto& option : rows.front().options)
    scores.tokens.push_back(static_cast<int>(option.size()));
  if (!rows.front().single_tokens()) scores.way = DecisionWay::option_text;
  auto outcome = run_plan(
      {std::move(rows),
       Plan::cold,
       {.vocabulary = static_cast<int>(model->vocabulary), .text_token = text_token.back()}});
  scores.logprobs = outcome.plan.results().front();
  scores.device = outcome.device;
  scores.engine_build = outcome.engine_build;
  return scores;
}

}  // namespace llamavisor::detail
