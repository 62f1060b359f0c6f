#include "scoring/native.hpp"

#include "scoring/answers.hpp"
#include "scoring/prompt_format.hpp"
#include "server/json.hpp"

#include <array>

namespace llamavisor::scoring {

namespace json = boost::json;

namespace {

json::value description(const QuestionOption& option) {
  return option.description ? json::value(*option.description) : json::value(nullptr);
}

json::value criteria(const Question& question) {
  if (question.type == QuestionType::score) {
    json::array levels;
    for (const auto& level : question.options)
      levels.push_back(json::string(level.text));
    return levels;
  }
  json::object options;
  for (const auto& option : question.options)
    options[option.text] = description(option);
  return options;
}

json::object noul_criteria(const Question& question) {
  json::object meanings;
  const std::array<std::string_view, 2> names{"false", "true"};
  for (std::size_t at = 0; at < question.options.size(); ++at) {
    const auto& meaning = question.options[at].description;
    if (meaning) meanings[names.at(at)] = *meaning;
  }
  return meanings;
}

json::object request(const Question& question) {
  json::object object{
      {"type", name(question.type)},
      {"instructions", question.instructions.empty() ? question.id : question.instructions}};
  if (question.type != QuestionType::noul) {
    object["criteria"] = criteria(question);
  } else if (auto meanings = noul_criteria(question); !meanings.empty()) {
    object["criteria"] = std::move(meanings);
  }
  return object;
}

double number(const json::value& value) {
  if (!value.is_number()) server::throw_protocol_error("a probability that is no number");
  return server::number_or(&value, 0);
}

const json::value& member(const json::value& value, std::string_view key) {
  const auto* found = server::find(value, key);
  if (!found) server::throw_protocol_error(fmt::format("no \"{}\" in an answer", key));
  return *found;
}

std::vector<double> read_probabilities(const Question& question, const json::value& value) {
  if (question.type == QuestionType::noul) {
    const double yes = number(member(value, "probability"));
    return {1 - yes, yes};
  }
  std::vector<double> result;
  const auto& list = member(value, "probabilities");
  if (const auto* array = list.if_array()) {
    for (const auto& entry : *array)
      result.push_back(number(entry));
  } else {
    for (const auto& option : question.options)
      result.push_back(number(member(list, option.text)));
  }
  if (result.size() != question.options.size()) {
    server::throw_protocol_error("not one probability for each option");
  }
  return result;
}

}  // namespace

server::ServerCall ask_native(const DecisionCase& asked) {
  json::object questions;
  for (const auto& question : asked.questions)
    questions[question.id] = request(question);
  return {.method = "POST",
          .target = "/v1/systemone",
          .body = json::serialize(json::object{{"state", json::string(asked.state)},
                                               {"questions", std::move(questions)}})};
}

Decision parse_native(const DecisionCase& asked, std::string_view body) {
  const auto value = server::parse_json(body);
  const auto& answers = member(value, "answers");
  Decision decision{.way = DecisionWay::native};
  for (const auto& question : asked.questions) {
    const auto& found = member(answers, question.id);
    Answer answer{.question = question.id, .type = question.type};
    answer.probabilities = read_probabilities(question, found);
    fill_in(answer);
    // The model's own figures, where it gives them: it may round otherwise.
    answer.confidence = server::number_or(server::find(found, "confidence"), answer.confidence);
    answer.score = server::number_or(server::find(found, "score"), answer.score);
    decision.answers.push_back(std::move(answer));
  }
  if (const auto* usage = server::find(value, "usage")) {
    decision.input_tokens = server::int_or(server::find(*usage, "input_tokens"), 0);
  }
  return decision;
}

}  // namespace llamavisor::scoring
