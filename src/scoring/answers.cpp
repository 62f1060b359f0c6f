#include "scoring/answers.hpp"

#include <llamavisor/error.hpp>

#include <algorithm>
#include <cmath>

namespace llamavisor::scoring {

void log_softmax(std::vector<double>& row) {
  const double highest = *std::max_element(row.begin(), row.end());
  double sum = 0;
  for (const double z : row)
    sum += std::exp(z - highest);
  for (double& z : row)
    z = z - highest - std::log(sum);
}

std::vector<double> probabilities(std::span<const double> row, double temperature) {
  std::vector<double> p(row.begin(), row.end());
  const double highest = *std::max_element(p.begin(), p.end());
  double sum = 0;
  for (double& z : p) {
    z = std::exp((z - highest) / temperature);
    sum += z;
  }
  for (double& z : p)
    z /= sum;
  return p;
}

double temperature(std::span<const CalibrationRule> rules, QuestionType type, std::size_t options) {
  double found = 1;
  int most = -1;
  for (const auto& rule : rules) {
    if (rule.type && *rule.type != type) continue;
    if (rule.options != 0 && rule.options != options) continue;
    const int members = (rule.type ? 1 : 0) + (rule.options != 0 ? 1 : 0);
    if (members <= most) continue;
    most = members;
    found = rule.temperature;
  }
  return found;
}

void check_calibration(std::span<const CalibrationRule> rules) {
  for (const auto& rule : rules) {
    if (std::isfinite(rule.temperature) && rule.temperature > 0) continue;
    throw Error(errc::invalid_option, "DecideOptions::calibration must hold temperatures above 0");
  }
}

std::size_t largest(std::span<const double> values) {
  return static_cast<std::size_t>(std::max_element(values.begin(), values.end()) - values.begin());
}

void fill_in(Answer& answer) {
  const auto& p = answer.probabilities;
  answer.decision = largest(p);
  const auto count = static_cast<double>(p.size());
  answer.confidence = (count * p[answer.decision] - 1) / (count - 1);
  answer.score = 0;
  if (answer.type != QuestionType::score) return;
  for (std::size_t level = 0; level < p.size(); ++level)
    answer.score += static_cast<double>(level) * p[level];
}

}  // namespace llamavisor::scoring
