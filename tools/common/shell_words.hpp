/// \file
/// One text as the words that a shell would make of it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace llamavisor::cli {

/// Splits at blanks; 'quotes', "quotes" and \ keep what they guard, as in a POSIX shell. Nothing is
/// expanded. Throws `Error` (`invalid_option`) where a quote or a \ has no end.
std::vector<std::string> shell_words(std::string_view text);

}  // namespace llamavisor::cli
