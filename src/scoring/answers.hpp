/// \file
/// From rows to answers: the arithmetic of docs/decisions/0006-scores.md.
#pragma once

#include <llamavisor/decision.hpp>

#include <span>
#include <vector>

namespace llamavisor::scoring {

/// z := z - max - ln(sum of exp(z - max)), in the order of the options.
void log_softmax(std::vector<double>& row);

/// p = softmax(row / temperature).
std::vector<double> probabilities(std::span<const double> row, double temperature);

/// The temperature of a question; 1 where no rule holds.
double temperature(std::span<const CalibrationRule> rules, QuestionType type, std::size_t options);

/// Throws `Error` (`invalid_option`).
void check_calibration(std::span<const CalibrationRule> rules);

/// The place of the largest; the first of equals.
std::size_t largest(std::span<const double> values);

/// All that follows from the probabilities.
void fill_in(Answer& answer);

}  // namespace llamavisor::scoring
