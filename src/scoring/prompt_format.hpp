/// \file
/// Filling in a prompt format.
#pragma once

#include <llamavisor/decision.hpp>

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace llamavisor::scoring {

/// formats/letters.json.
std::string_view default_format_json();

/// Throws `Error` (`invalid_option`): a format of the host's own making may lack what it needs.
void check_format(const PromptFormat& format);

/// Replaces each `{name}` once, from left to right: what was filled in is not looked at again, and
/// a name that is not there stays as it is.
std::string fill(std::string_view pattern,
                 std::span<const std::pair<std::string_view, std::string_view>> values);

std::string state_text(const PromptFormat& format, std::string_view state);

/// With one label for each option.
std::string question_text(const PromptFormat& format, const Question& question,
                          std::span<const std::string> labels);

/// How many options there are to choose from: two of a noul.
std::size_t option_count(const Question& question);

}  // namespace llamavisor::scoring
