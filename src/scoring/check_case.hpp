/// \file
/// Whether questions make sense.
#pragma once

#include <llamavisor/decision.hpp>

#include <string_view>

namespace llamavisor::scoring {

/// Throws `Error` (`invalid_question`) that names the question.
[[noreturn]] void refuse_question(std::string_view id, std::string_view why);

/// The options of one question: how many, and none empty. Throws `Error`: `invalid_question`,
/// `too_many_options`.
void check_question(const Question& question);

/// A whole case, as a host may have put it together. Throws as above.
void check_case(const DecisionCase& asked);

}  // namespace llamavisor::scoring
