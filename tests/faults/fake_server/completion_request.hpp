// The body of POST /completion.
#pragma once

#include "generation.hpp"

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace fake {

struct CompletionRequest {
  std::vector<std::vector<int>> prompts;
  bool many = false;  ///< an array of prompts: an array of answers
  int n_predict = -1;
  bool stream = false;
  bool return_tokens = false;
  bool return_progress = false;
  bool timings_per_token = false;
  bool cache_prompt = true;
  bool post_sampling_probs = false;
  std::size_t n_probs = 0;
  std::size_t top_k = 40;
  int id_slot = -1;
  std::vector<std::string> stops;
  std::string grammar;
  Sampling sampling;
  bool random_seed = true;
};

/// A request that is refused with this status.
struct Refused : std::runtime_error {
  Refused(int code, const std::string& message, std::string kind = "invalid_request_error")
      : std::runtime_error(message), status(code), type(std::move(kind)) {}
  int status;
  std::string type;
  std::string more{};  ///< further members of the error, each with its comma
};

/// Throws `Refused`.
CompletionRequest parse_completion_request(std::string_view body, const Script& script);

}  // namespace fake
