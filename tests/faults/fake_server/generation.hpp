// What the fake says: a fixed function of all tokens before, so that a run that is resumed with
// the tokens it already has goes on as if it had never stopped.
#pragma once

#include "script.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace fake {

struct Sampling {
  double temperature = 0.8;
  std::uint32_t seed = 0;
  bool ignore_eos = false;
  std::map<int, double> bias;
};

/// A token and its probability; `value` is a logarithm, or not, as the caller asks for.
struct Candidate {
  int id = 0;
  double value = 0;
};

class Generation {
 public:
  Generation(const Script& script, Sampling sampling, std::span<const int> prompt);

  int next();

  /// The most probable tokens in place of the one that `next` gave last, best first: logarithms,
  /// over the whole vocabulary, before any bias.
  std::vector<Candidate> best(std::size_t count) const;

  /// The same as the sampler saw them: probabilities among the `top_k` best, after the bias.
  std::vector<Candidate> best_sampled(std::size_t count, std::size_t top_k) const;

 private:
  void take(int id);
  bool ends_here() const;
  int natural_token() const;
  double logit(int id) const;
  std::vector<Candidate> ranked(bool biased) const;

  const Script& script_;
  Sampling sampling_;
  std::uint64_t hash_ = 0x9E3779B97F4A7C15;
  std::uint64_t seen_ = 0;  ///< the hash before the last token: what its choice hung on
  int natural_ = 0;         ///< the token that stood out there
  int length_ = 0;          ///< of prompt and answer
  int answer_begins_ = 0;
  int answer_length_of_request_ = 0;
  int open_bytes_ = 0;  ///< that the last UTF-8 character still needs
  std::vector<int> recent_;
};

}  // namespace fake
