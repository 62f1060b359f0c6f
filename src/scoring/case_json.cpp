// Cases out of JSON: the checks and their order are those of docs/decisions/0006-scores.md.
#include <llamavisor/decision.hpp>
#include <llamavisor/error.hpp>

#include "scoring/check_case.hpp"
#include "scoring/json_text.hpp"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <array>

namespace llamavisor {

namespace {

namespace json = boost::json;
using scoring::refuse_question;

/// Text, or an object or array as text.
std::optional<std::string> text_of(const json::value& value) {
  if (const auto* text = value.if_string()) return std::string(*text);
  if (value.is_object() || value.is_array()) return scoring::to_text(value);
  return std::nullopt;
}

std::optional<std::string> description_of(const json::value& value, std::string_view question) {
  if (value.is_null()) return std::nullopt;
  auto text = text_of(value);
  if (!text) {
    refuse_question(question, "a description must be text, an object, an array or null");
  }
  return text;
}

QuestionType type_of(const json::object& object, std::string_view id) {
  const auto* value = object.if_contains("type");
  const auto* text = value ? value->if_string() : nullptr;
  for (const auto type : {QuestionType::choice, QuestionType::score, QuestionType::noul}) {
    if (text && *text == name(type)) return type;
  }
  refuse_question(id, R"("type" must be "choice", "score" or "noul")");
}

std::string instructions_of(const json::object& object, std::string_view id) {
  const auto* value = object.if_contains("instructions");
  if (!value) return {};
  auto text = text_of(*value);
  if (!text || text->empty()) {
    refuse_question(id, R"("instructions" must be text that is not empty, an object or an array)");
  }
  return std::move(*text);
}

std::vector<QuestionOption> choice_options(const json::value* criteria, std::string_view id) {
  const auto* object = criteria ? criteria->if_object() : nullptr;
  if (!object) {
    refuse_question(id, R"("criteria" of a choice must be an object of option and description)");
  }
  std::vector<QuestionOption> options;
  for (const auto& [key, value] : *object)
    options.push_back({.text = std::string(key), .description = description_of(value, id)});
  return options;
}

std::vector<QuestionOption> score_levels(const json::value* criteria, std::string_view id) {
  const auto* array = criteria ? criteria->if_array() : nullptr;
  if (!array) refuse_question(id, R"("criteria" of a score must be an array of levels)");
  std::vector<QuestionOption> levels;
  for (const auto& value : *array) {
    auto text = text_of(value);
    if (!text) refuse_question(id, "a level must be text, an object or an array");
    levels.push_back({.text = std::move(*text)});
  }
  return levels;
}

std::vector<QuestionOption> noul_options(const json::value* criteria, std::string_view id) {
  if (!criteria) return {};
  const auto* object = criteria->if_object();
  if (!object) {
    refuse_question(id, R"("criteria" of a noul must be an object with "false" and "true")");
  }
  std::vector<QuestionOption> options(2);
  for (const auto& [key, value] : *object) {
    if (key != "false" && key != "true") {
      refuse_question(id, R"("criteria" of a noul may only have "false" and "true")");
    }
    options[key == "true" ? 1 : 0].description = description_of(value, id);
  }
  return options;
}

Question question_of(std::string_view id, const json::value& value) {
  const auto* object = value.if_object();
  if (!object) refuse_question(id, "a question must be an object");
  Question question{.id = std::string(id)};
  question.type = type_of(*object, id);
  question.instructions = instructions_of(*object, id);
  const auto* criteria = object->if_contains("criteria");
  switch (question.type) {
    case QuestionType::choice: question.options = choice_options(criteria, id); break;
    case QuestionType::score: question.options = score_levels(criteria, id); break;
    case QuestionType::noul: question.options = noul_options(criteria, id); break;
  }
  scoring::check_question(question);
  return question;
}

[[noreturn]] void refuse(std::string_view why) {
  throw Error(errc::invalid_question, std::string(why));
}

}  // namespace

DecisionCase parse_case(std::string_view text) {
  const auto value = scoring::parse_exactly(text);
  const auto* object = value.if_object();
  if (!object) refuse("a case must be an object");
  DecisionCase parsed;
  if (const auto* id = object->if_contains("id")) {
    parsed.id = id->is_string() ? std::string(id->get_string()) : scoring::to_text(*id);
  }
  const auto* state = object->if_contains("state");
  auto state_text = state ? text_of(*state) : std::nullopt;
  if (!state_text) refuse(R"("state" must be text, an object or an array)");
  parsed.state = std::move(*state_text);
  const auto* questions = object->if_contains("questions");
  const auto* list = questions ? questions->if_object() : nullptr;
  if (!list || list->empty()) refuse(R"("questions" must be an object that is not empty)");
  for (const auto& [id, question] : *list)
    parsed.questions.push_back(question_of(id, question));
  return parsed;
}

}  // namespace llamavisor
