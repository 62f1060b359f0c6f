#include <llamavisor/decision.hpp>

#include "scoring/json_text.hpp"
#include "scoring/prompt_format.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace llamavisor {

namespace {

using scoring::quoted;

std::string numbers(const std::vector<double>& values) {
  std::string out = "[";
  for (std::size_t at = 0; at < values.size(); ++at)
    out += (at == 0 ? "" : ", ") + scoring::to_text(values[at]);
  return out + "]";
}

std::string choice(const Question& question, const Answer& answer) {
  std::string probabilities;
  for (std::size_t at = 0; at < question.options.size(); ++at) {
    probabilities += fmt::format("{}{}: {}", at == 0 ? "" : ", ", quoted(question.options[at].text),
                                 scoring::to_text(answer.probabilities[at]));
  }
  return fmt::format(R"({{"choice": {}, "confidence": {}, "probabilities": {{{}}}}})",
                     quoted(question.options[answer.decision].text),
                     scoring::to_text(answer.confidence), probabilities);
}

std::string answer_text(const Question& question, const Answer& answer) {
  switch (answer.type) {
    case QuestionType::choice: return choice(question, answer);
    case QuestionType::score:
      return fmt::format(R"({{"score": {}, "confidence": {}, "probabilities": {}}})",
                         scoring::to_text(answer.score), scoring::to_text(answer.confidence),
                         numbers(answer.probabilities));
    case QuestionType::noul: break;
  }
  return fmt::format(R"({{"noul": {}, "probability": {}}})", answer.decision == 1,
                     scoring::to_text(answer.probabilities[1]));
}

}  // namespace

std::string to_json(const DecisionCase& asked, const Decision& decision) {
  std::string answers;
  std::string logits;
  for (std::size_t at = 0; at < decision.answers.size(); ++at) {
    const auto& question = asked.questions.at(at);
    const auto& answer = decision.answers[at];
    const auto* comma = at == 0 ? "" : ", ";
    answers += fmt::format("{}{}: {}", comma, quoted(question.id), answer_text(question, answer));
    logits += fmt::format("{}{}: {}", comma, quoted(question.id), numbers(answer.option_logits));
  }
  const bool native = decision.way == DecisionWay::native;
  return fmt::format(
      R"({{"id": {}, "answers": {{{}}}, {}"usage": {{"input_tokens": {}}}, "device": {}, )"
      R"("plan": {}, "way": {}}})",
      quoted(asked.id), answers, native ? "" : fmt::format(R"("option_logits": {{{}}}, )", logits),
      decision.input_tokens, quoted(decision.device), quoted(name(decision.plan)),
      quoted(name(decision.way)));
}

}  // namespace llamavisor
