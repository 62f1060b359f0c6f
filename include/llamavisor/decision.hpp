/// \file
/// Questions about a text, and answers with exact probabilities.
#pragma once

#include <llamavisor/generate_options.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llamavisor {

enum class QuestionType {
  choice,  ///< one of 2 to 255 options
  score,   ///< a level out of 2 to 10
  noul     ///< no or yes
};

/// "choice", "score", "noul". Never throws.
std::string_view name(QuestionType type) noexcept;

/// What may be answered. Texts are data: control tokens written out in them ("<|im_end|>") are
/// never that token.
struct QuestionOption {
  std::string text{};
  std::optional<std::string> description{};
};

/// One question.
struct Question {
  std::string id{};
  QuestionType type = QuestionType::choice;
  std::string instructions{};  ///< empty: the id serves

  /// Of a score: its levels, the lowest first. Of a noul: none, or two, whose descriptions say what
  /// no and yes mean (their texts are the format's).
  std::vector<QuestionOption> options{};
};

/// Questions about one state.
struct DecisionCase {
  std::string id{};
  std::string state{};  ///< what is asked about
  std::vector<Question> questions{};
};

/// A case from JSON: `{"id", "state": text, object or array, "questions": {ID: {"type":
/// "choice"|"score"|"noul", "instructions", "criteria"}}}`; the criteria are `{option:
/// description or null}` (choice), `[level, ...]` (score), `{"false": ..., "true": ...}` or left
/// out (noul). Objects and arrays become JSON text in one fixed form
/// (docs/decisions/0006-scores.md). Throws `Error`: `invalid_question` or `too_many_options`, with
/// what is wrong and where. Any thread.
DecisionCase parse_case(std::string_view json);

/// How a question becomes a prompt: data. The default serves any instruct model.
struct PromptFormat {
  std::string name{};
  bool chat = true;                ///< inside the model's own chat template
  std::string system{};            ///< what the model is told to do
  std::string state{};             ///< with {state}
  std::string question{};          ///< with {instructions}, {hint}, {options}
  std::string option{};            ///< one piece of {options}, with {label}, {option}
  std::string described_option{};  ///< the same, with {description} too
  std::string choice_hint{};       ///< {hint}, by type
  std::string score_hint{};
  std::string noul_hint{};
  std::string no{};  ///< options of a noul
  std::string yes{};
  std::string answer{};  ///< what already stands there of the answer

  /// The first set of which enough are one token each, all different, is taken; where none serves,
  /// numbers of several tokens.
  std::vector<std::vector<std::string>> labels{};

  friend bool operator==(const PromptFormat&, const PromptFormat&) = default;
};

/// Of a format's JSON file (like src/scoring/formats/letters.json). Throws `Error`
/// (`invalid_option`) that names the member. Any thread.
PromptFormat parse_format(std::string_view json);

/// "letters". Any thread.
const PromptFormat& default_format();

/// How a case's requests are made. `reference` and `exact` give the same numbers to the last bit.
enum class Plan {
  /// Each question by itself over the cached state, in as few requests as that takes. Needs a model
  /// that was loaded with `LoadOptions::exact_scores`: any other gets `cold`, and so does a
  /// recurrent one, whose state cannot be cut back.
  exact,
  reference,  ///< the same with a request between any two that cuts the cache back: slow; what the
              ///< parity gate trusts
  cold        ///< the whole prompt each time
};

/// "exact", "reference", "cold". Never throws.
std::string_view name(Plan plan) noexcept;

/// A temperature T: p = softmax(option logits / T).
struct CalibrationRule {
  std::optional<QuestionType> type{};  ///< unset = any
  std::size_t options = 0;             ///< how many a question has; 0 = any number
  double temperature = 1;              ///< > 0
};

/// One aggregate; every member has its default. `errc::invalid_option` names the member.
struct DecideOptions {
  Plan plan = Plan::exact;

  /// Of several rules that hold for a question the one with most members set is taken, of equals
  /// the first; without one T = 1.
  std::vector<CalibrationRule> calibration{};

  std::optional<PromptFormat> format{};  ///< unset = the default
  bool keep_prompts = false;             ///< fill `Answer::prompt`, `shared` and `candidates`
};

/// What came out of one question. K is the number of options.
struct Answer {
  std::string question{};  ///< its id
  QuestionType type = QuestionType::choice;
  std::size_t decision = 0;  ///< place of the most probable option; the first of equals
  double confidence = 0;     ///< (K * p(decision) - 1) / (K - 1): 0 = all alike, 1 = sure
  double score = 0;          ///< of a score: the sum of i * p(i), levels from 0
  std::vector<double> probabilities{};  ///< in the order of the options; of a noul: no, yes

  /// Natural logarithms of the probabilities before calibration. Empty where the model answers
  /// natively.
  std::vector<double> option_logits{};

  std::vector<TokenId> prompt{};                   ///< the question's ids
  std::size_t shared = 0;                          ///< how many of them all questions share
  std::vector<std::vector<TokenId>> candidates{};  ///< each option's label, as ids
};

/// How the numbers were found.
enum class DecisionWay {
  option_logits,  ///< one token a label: the softmax over the labels
  option_text,    ///< some label takes several tokens: the product along it
  native          ///< a decision model's own endpoint
};

/// "option_logits", "option_text", "native". Never throws.
std::string_view name(DecisionWay way) noexcept;

/// The answers of one case, all computed by one server process.
struct Decision {
  std::vector<Answer> answers{};  ///< in the order of the questions
  int input_tokens = 0;           ///< of all questions, what they share counted once
  std::string device{};           ///< that computed them
  int engine_build = 0;
  DecisionWay way = DecisionWay::option_logits;
  Plan plan = Plan::exact;  ///< as it was carried out
  int servers = 1;          ///< processes that it took: more than one where one died over it
};

/// One line of JSON: `{"id", "answers", "option_logits", "usage", "device", "plan", "way"}`; its
/// numbers give the same doubles back. Any thread.
std::string to_json(const DecisionCase& asked, const Decision& decision);

/// How probable some texts are as what comes next.
struct OptionScores {
  std::vector<double> logprobs{};  ///< natural, *among the options*: their exp add up to one
  std::vector<int> tokens{};       ///< of each option
  int prompt_tokens = 0;
  std::string device{};
  int engine_build = 0;
  DecisionWay way = DecisionWay::option_logits;
};

}  // namespace llamavisor
