// What several tests expect of failures and texts, in words that Catch2 2 and 3 share.
#pragma once

#include <llamavisor/error.hpp>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string_view>

namespace llamavisor::test {

/// Runs it and returns what it threw; a call that throws no `Error` fails the test.
template <typename Call>
Failure thrown_by(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.failure();
  }
  throw std::logic_error("no Error was thrown");
}

/// Equal but for rounding.
inline bool near(double a, double b) {
  return std::abs(a - b) <= 1e-9 * std::max(1.0, std::abs(b));
}

inline bool says(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace llamavisor::test
