#include "scoring/prompt_format.hpp"

#include <llamavisor/error.hpp>

#include "scoring/json_text.hpp"
#include "server/server_call.hpp"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <array>
#include <set>

namespace llamavisor {

namespace {

namespace json = boost::json;

[[noreturn]] void refuse(std::string_view member, std::string_view rule) {
  throw Error(errc::invalid_option, fmt::format("prompt format: \"{}\" {}", member, rule));
}

const json::value* take(json::object& object, std::string_view member,
                        std::set<std::string>& seen) {
  seen.insert(std::string(member));
  return object.if_contains(member);
}

std::string text(json::object& object, std::string_view member, std::set<std::string>& seen) {
  const auto* value = take(object, member, seen);
  const auto* string = value ? value->if_string() : nullptr;
  if (!string) refuse(member, "must be text");
  return std::string(*string);
}

std::vector<std::vector<std::string>> label_sets(const json::value* value) {
  const auto* sets = value ? value->if_array() : nullptr;
  if (!sets) refuse("labels", "must be an array of sets");
  std::vector<std::vector<std::string>> result;
  for (const auto& set : *sets) {
    const auto* labels = set.if_array();
    if (!labels) refuse("labels", "must be an array of arrays of text");
    auto& texts = result.emplace_back();
    for (const auto& label : *labels) {
      if (!label.is_string()) refuse("labels", "must hold nothing but text");
      texts.emplace_back(label.get_string());
    }
  }
  return result;
}

}  // namespace

PromptFormat parse_format(std::string_view source) {
  json::value value;
  try {
    value = scoring::parse_exactly(source);
  } catch (const Error& error) {
    throw Error(errc::invalid_option, fmt::format("prompt format: {}", error.what()));
  }
  auto* object = value.if_object();
  if (!object) throw Error(errc::invalid_option, "prompt format: it must be a JSON object");
  std::set<std::string> seen;
  PromptFormat format;
  format.name = text(*object, "name", seen);
  const auto* chat = take(*object, "chat", seen);
  if (!chat || !chat->is_bool()) refuse("chat", "must be true or false");
  format.chat = chat->get_bool();
  format.system = text(*object, "system", seen);
  format.state = text(*object, "state", seen);
  format.question = text(*object, "question", seen);
  format.option = text(*object, "option", seen);
  format.described_option = text(*object, "described_option", seen);
  format.answer = text(*object, "answer", seen);
  const auto* hints = take(*object, "hints", seen);
  if (!hints || !hints->is_object()) refuse("hints", "must be an object");
  auto hint_texts = hints->get_object();
  std::set<std::string> seen_hints;
  format.choice_hint = text(hint_texts, "choice", seen_hints);
  format.score_hint = text(hint_texts, "score", seen_hints);
  format.noul_hint = text(hint_texts, "noul", seen_hints);
  const auto* noul = take(*object, "noul", seen);
  const auto* names = noul ? noul->if_array() : nullptr;
  if (!names || names->size() != 2 || !(*names)[0].is_string() || !(*names)[1].is_string()) {
    refuse("noul", "must be two texts, for no and for yes");
  }
  format.no = (*names)[0].get_string();
  format.yes = (*names)[1].get_string();
  format.labels = label_sets(take(*object, "labels", seen));
  for (const auto& member : *object) {
    if (!seen.contains(std::string(member.key()))) refuse(member.key(), "is no member of a format");
  }
  scoring::check_format(format);
  return format;
}

const PromptFormat& default_format() {
  static const auto format = parse_format(scoring::default_format_json());
  return format;
}

namespace scoring {

void check_format(const PromptFormat& format) {
  const auto needs = [](std::string_view pattern, std::string_view member, std::string_view part) {
    if (pattern.find(part) == std::string_view::npos)
      refuse(member, fmt::format("must hold {}", part));
  };
  needs(format.state, "state", "{state}");
  needs(format.question, "question", "{instructions}");
  needs(format.question, "question", "{options}");
  for (const auto part : {"{label}", "{option}"}) {
    needs(format.option, "option", part);
    needs(format.described_option, "described_option", part);
  }
  needs(format.described_option, "described_option", "{description}");
  if (format.no.empty() || format.yes.empty()) refuse("noul", "must not hold an empty text");
  for (const auto& texts : {format.system, format.state, format.question, format.option,
                            format.described_option, format.choice_hint, format.score_hint,
                            format.noul_hint, format.no, format.yes, format.answer}) {
    server::require_utf8(texts, "a text of the prompt format");
  }
  for (const auto& set : format.labels) {
    std::set<std::string_view> distinct;
    for (const auto& label : set) {
      server::require_utf8(label, "a label of the prompt format");
      if (label.empty()) refuse("labels", "must not hold an empty label");
      if (!distinct.insert(label).second) refuse("labels", "must not hold a label twice in a set");
    }
  }
}

std::string fill(std::string_view pattern,
                 std::span<const std::pair<std::string_view, std::string_view>> values) {
  std::string out;
  while (!pattern.empty()) {
    const auto open = pattern.find('{');
    out += pattern.substr(0, open);
    if (open == std::string_view::npos) break;
    pattern.remove_prefix(open + 1);
    bool filled = false;
    for (const auto& [name, value] : values) {
      if (!pattern.starts_with(name) || !pattern.substr(name.size()).starts_with('}')) continue;
      out += value;
      pattern.remove_prefix(name.size() + 1);
      filled = true;
      break;
    }
    if (!filled) out += '{';
  }
  return out;
}

std::string state_text(const PromptFormat& format, std::string_view state) {
  const std::array<std::pair<std::string_view, std::string_view>, 1> values{{{"state", state}}};
  return fill(format.state, values);
}

std::size_t option_count(const Question& question) {
  return question.type == QuestionType::noul ? 2 : question.options.size();
}

std::string question_text(const PromptFormat& format, const Question& question,
                          std::span<const std::string> labels) {
  const bool noul = question.type == QuestionType::noul;
  std::string options;
  for (std::size_t at = 0; at < option_count(question); ++at) {
    const auto* option = at < question.options.size() ? &question.options[at] : nullptr;
    const auto& text = !noul ? option->text : at == 0 ? format.no : format.yes;
    const bool described = option && option->description;
    const std::array<std::pair<std::string_view, std::string_view>, 3> values{
        {{"label", labels[at]},
         {"option", text},
         {"description", described ? std::string_view(*option->description) : std::string_view{}}}};
    options += fill(described ? format.described_option : format.option, values);
  }
  const auto& hint = noul                                   ? format.noul_hint
                     : question.type == QuestionType::score ? format.score_hint
                                                            : format.choice_hint;
  const auto& instructions = question.instructions.empty() ? question.id : question.instructions;
  const std::array<std::pair<std::string_view, std::string_view>, 3> values{
      {{"instructions", instructions}, {"hint", hint}, {"options", options}}};
  return fill(format.question, values);
}

}  // namespace scoring

}  // namespace llamavisor
