#include "scoring/check_case.hpp"

#include <llamavisor/error.hpp>

#include "server/server_call.hpp"

#include <fmt/format.h>

#include <set>
#include <string>

namespace llamavisor::scoring {

namespace {

constexpr std::size_t most_options = 255;
constexpr std::size_t most_levels = 10;

void check_utf8(std::string_view text, std::string_view id, std::string_view what) {
  try {
    server::require_utf8(text, what);
  } catch (const Error& error) {
    refuse_question(id, error.what());
  }
}

void check_texts(const Question& question) {
  check_utf8(question.id, question.id, "the id");
  check_utf8(question.instructions, question.id, "the instructions");
  for (const auto& option : question.options) {
    check_utf8(option.text, question.id, "an option");
    if (option.description) check_utf8(*option.description, question.id, "a description");
  }
}

}  // namespace

void refuse_question(std::string_view id, std::string_view why) {
  throw Error(errc::invalid_question, fmt::format("question \"{}\": {}", id, why));
}

void check_question(const Question& question) {
  const auto count = question.options.size();
  if (question.type == QuestionType::noul) {
    if (count != 0 && count != 2) {
      refuse_question(question.id, "a noul has no options, or two with descriptions of no and yes");
    }
    return;
  }
  const bool score = question.type == QuestionType::score;
  if (count < 2) {
    refuse_question(question.id, fmt::format("{} {} are too few: give at least 2", count,
                                             score ? "levels" : "options"));
  }
  const auto most = score ? most_levels : most_options;
  if (count > most) {
    throw Error(errc::too_many_options,
                fmt::format("question \"{}\": {} {} are too many: a {} may have {}", question.id,
                            count, score ? "levels" : "options", name(question.type), most));
  }
  for (const auto& option : question.options) {
    if (option.text.empty()) {
      refuse_question(question.id,
                      score ? "a level must not be empty" : "an option must not be empty");
    }
  }
}

void check_case(const DecisionCase& asked) {
  if (asked.questions.empty()) {
    throw Error(errc::invalid_question, "a case needs at least one question");
  }
  check_utf8(asked.state, asked.questions.front().id, "the state");
  std::set<std::string_view> ids;
  for (const auto& question : asked.questions) {
    check_question(question);
    check_texts(question);
    if (!ids.insert(question.id).second) refuse_question(question.id, "this id is there twice");
    if (question.instructions.empty() && question.id.empty()) {
      refuse_question(question.id, "a question needs instructions, or an id that serves");
    }
  }
}

}  // namespace llamavisor::scoring
