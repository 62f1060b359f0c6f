// Small words of the script's language.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fake {

[[noreturn]] void not_understood(std::string_view what);

std::vector<std::string> split(std::string_view text, char separator);
std::string join(const std::vector<std::string>& parts, char separator);

/// At white space; a '#' at the beginning of a word makes the rest of the line a comment.
std::vector<std::string> split_words(std::string_view text);

/// The first part, removed. Throws when there is none.
std::string take_front(std::vector<std::string>& parts);

int to_int(std::string_view text);
long long to_long(std::string_view text);
int to_signal(std::string_view name);  ///< "SIGKILL" or "KILL"

/// "a%20b" is "a b": a word cannot hold a space.
std::string percent_decoded(std::string_view text);

}  // namespace fake
