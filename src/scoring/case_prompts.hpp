/// \file
/// From a case to ids: the segments of docs/decisions/0006-scores.md.
#pragma once

#include <llamavisor/decision.hpp>
#include <llamavisor/gguf.hpp>

#include "scoring/prompt_frame.hpp"
#include "scoring/row_plan.hpp"

#include <vector>

namespace llamavisor::scoring {

/// The rows of a case that was checked: one question to the tokenizer. Throws `Error`.
std::vector<AskedRow> case_rows(const DecisionCase& asked, PromptFrame& frame);

/// The row of a prompt and its options. Throws `Error`.
AskedRow option_row(std::string_view prompt, std::span<const std::string> options,
                    const Tokenizer& tokenizer);

/// Throws `Error` (`context_exceeded`): a prompt is never cut.
void check_lengths(std::span<const AskedRow> rows, int context_length);

/// Of all rows, what they share counted once.
int input_tokens(std::span<const AskedRow> rows, std::size_t shared);

}  // namespace llamavisor::scoring
