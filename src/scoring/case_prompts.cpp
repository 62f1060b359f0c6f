#include "scoring/case_prompts.hpp"

#include <llamavisor/error.hpp>

#include "scoring/prompt_format.hpp"

#include <fmt/format.h>

namespace llamavisor::scoring {

namespace {

void append(std::vector<TokenId>& ids, std::span<const TokenId> more) {
  ids.insert(ids.end(), more.begin(), more.end());
}

}  // namespace

std::vector<AskedRow> case_rows(const DecisionCase& asked, PromptFrame& frame) {
  std::vector<std::string> texts{frame.state_prefix() + state_text(frame.format(), asked.state)};
  for (const auto& question : asked.questions) {
    texts.push_back(
        question_text(frame.format(), question, frame.labels(option_count(question)).texts));
  }
  const auto segments = frame.tokenizer().inside(texts, false);
  std::vector<AskedRow> rows;
  for (std::size_t at = 0; at < asked.questions.size(); ++at) {
    auto& row = rows.emplace_back();
    append(row.ids, frame.before());
    append(row.ids, segments.front());
    append(row.ids, segments[at + 1]);
    append(row.ids, frame.after());
    row.options = frame.labels(option_count(asked.questions[at])).ids;
  }
  return rows;
}

AskedRow option_row(std::string_view prompt, std::span<const std::string> options,
                    const Tokenizer& tokenizer) {
  AskedRow row{.ids = tokenizer.whole(prompt), .options = tokenizer.inside(options, false)};
  if (row.ids.empty()) {
    throw Error(errc::invalid_option, "score(): this model needs a prompt that is not empty");
  }
  return row;
}

void check_lengths(std::span<const AskedRow> rows, int context_length) {
  for (const auto& row : rows) {
    std::size_t longest = 1;
    for (const auto& option : row.options)
      longest = std::max(longest, option.size());
    const auto needed = row.ids.size() + longest - 1;
    if (needed < static_cast<std::size_t>(context_length)) continue;
    throw Error(errc::context_exceeded,
                fmt::format("a prompt of {} tokens does not fit the context of {}: give a shorter "
                            "state, or load with a larger LoadOptions::context_length",
                            needed, context_length));
  }
}

int input_tokens(std::span<const AskedRow> rows, std::size_t shared) {
  std::size_t sum = 0;
  for (const auto& row : rows)
    sum += row.ids.size();
  return static_cast<int>(sum - (rows.size() - 1) * shared);
}

}  // namespace llamavisor::scoring
