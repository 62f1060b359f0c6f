/// \file
/// JSON of cases: doubles read exactly, and written in one fixed form.
#pragma once

#include <boost/json/value.hpp>

#include <string>
#include <string_view>

namespace llamavisor::scoring {

/// Parses a text. Unlike `boost::json::parse` of all versions it reads a number as the double that
/// is nearest to it. Throws `Error` (`invalid_question`) that says where the text is no JSON.
boost::json::value parse_exactly(std::string_view text);

/// The form of docs/decisions/0006-scores.md, "Texts".
std::string to_text(const boost::json::value& value);

/// A double in that form: the shortest digits that give it back.
std::string to_text(double number);

/// A string in that form, with its quotes.
std::string quoted(std::string_view text);

}  // namespace llamavisor::scoring
