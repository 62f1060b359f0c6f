// The JSON of a completion: its events, or its one answer.
#pragma once

#include "completion_request.hpp"

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace fake {

/// What is known of one answer so far.
struct Answer {
  using Clock = std::chrono::steady_clock;

  std::size_t index = 0;  ///< among the request's prompts
  std::span<const int> prompt;
  int id_slot = 0;
  int cached = 0;
  int predicted = 0;
  std::vector<int> tokens;
  std::string probabilities;  ///< of all tokens, comma separated
  std::string text;
  bool truncated = false;
  std::string stop_type = "none";
  std::string stopping_word;
  Clock::time_point prompt_began{}, generation_began{}, now{};
};

/// One token of the stream. `probabilities`: JSON of its `completion_probabilities`, may be empty.
std::string token_event(const Answer& answer, int id, std::string_view text, bool with_timings,
                        std::string_view probabilities);

std::string progress_event(const Answer& answer, int processed, bool with_timings);

/// The last event of a stream, or the whole answer.
std::string final_event(const Answer& answer, const CompletionRequest& request,
                        std::string_view alias);

/// One member of `completion_probabilities`. `text` is what was sent for the token.
std::string probability_json(const CompletionRequest& request, const Generation& generation, int id,
                             std::string_view text);

}  // namespace fake
