#include "generation.hpp"

#include "tokenizer.hpp"

#include <algorithm>
#include <cmath>

namespace fake {
namespace {

std::uint64_t mix(std::uint64_t value) {
  value ^= value >> 31;
  value *= 0xBF58476D1CE4E5B9;
  value ^= value >> 29;
  value *= 0x94D049BB133111EB;
  return value ^ (value >> 32);
}

/// "<|im_start|>assistant\n": after the last of these the answer begins.
const std::vector<int>& answer_mark() {
  static const auto mark = tokenize("<|im_start|>assistant\n", false, true);
  return mark;
}

int bytes_after(int lead) {
  return lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : lead >= 0xC0 ? 1 : 0;
}

int ascii_token(std::uint64_t choice) {
  return choice % 6 == 0 ? ' ' : 'a' + static_cast<int>(choice / 6 % 26);
}

/// A byte that begins a character. The lead bytes after which not every continuation is valid
/// (E0, ED, F0, F4) are left out.
int utf8_lead(std::uint64_t choice) {
  const auto kind = choice % 8;
  const auto rest = static_cast<int>(choice / 8 % 1024);
  if (kind < 4) return ascii_token(choice / 8);
  if (kind < 6) return 0xC3 + rest % 0x1D;
  if (kind < 7) return 0xE1 + rest % 12;
  return 0xF1 + rest % 3;
}

}  // namespace

Generation::Generation(const Script& script, Sampling sampling, std::span<const int> prompt)
    : script_(script), sampling_(std::move(sampling)) {
  for (const int id : prompt)
    take(id);
  if (answer_begins_ == 0) answer_begins_ = length_;
}

void Generation::take(int id) {
  hash_ = mix(hash_ * 31 + static_cast<std::uint64_t>(id) + 1);
  ++length_;
  const bool continues = id >= 0x80 && id < 0xC0;
  open_bytes_ = continues ? std::max(0, open_bytes_ - 1) : id < 256 ? bytes_after(id) : 0;
  const auto& mark = answer_mark();
  recent_.push_back(id);
  if (recent_.size() > mark.size()) recent_.erase(recent_.begin());
  if (recent_ == mark) answer_begins_ = length_;
}

bool Generation::ends_here() const {
  if (sampling_.ignore_eos) return false;
  return (script_.tokens >= 0 && length_ - answer_begins_ >= script_.tokens) ||
         (script_.total >= 0 && length_ >= script_.total);
}

int Generation::natural_token() const {
  if (ends_here()) return eos;
  auto choice = seen_;
  if (script_.voice != 0 && length_ >= script_.voice_from) {
    choice = mix(choice + static_cast<std::uint64_t>(script_.voice));
  }
  if (script_.sampling && sampling_.temperature > 0) {
    const auto drawn = static_cast<std::uint64_t>(answer_length_of_request_);
    choice = mix(choice ^ mix((std::uint64_t{sampling_.seed} << 20) + drawn + 1));
  }
  if (script_.text == Script::Text::ascii) return ascii_token(choice);
  if (open_bytes_ > 0) return 0x80 + static_cast<int>(choice % 64);
  if (script_.text == Script::Text::broken && choice % 5 == 0) return 0xFF;
  return utf8_lead(choice / 5);
}

int Generation::next() {
  seen_ = hash_;
  natural_ = natural_token();
  const int id = sampling_.bias.empty() ? natural_ : ranked(true).front().id;
  take(id);
  ++answer_length_of_request_;
  return id;
}

double Generation::logit(int id) const {
  if (id == natural_) return 2.0;
  const auto drawn = mix(seen_ ^ mix(static_cast<std::uint64_t>(id) + 77)) >> 11;
  return -8.0 * static_cast<double>(drawn) / static_cast<double>(std::uint64_t{1} << 53);
}

std::vector<Candidate> Generation::ranked(bool biased) const {
  std::vector<Candidate> all;
  for (int id = 0; id < vocabulary; ++id) {
    if (!is_token(id)) continue;
    auto value = logit(id);
    if (biased) {
      if (const auto bias = sampling_.bias.find(id); bias != sampling_.bias.end()) {
        value += bias->second;
      }
      if (id == eos && sampling_.ignore_eos) value -= 1000;
    }
    all.push_back({id, value});
  }
  std::sort(all.begin(), all.end(),
            [](const Candidate& a, const Candidate& b) { return a.value > b.value; });
  return all;
}

std::vector<Candidate> Generation::best(std::size_t count) const {
  auto all = ranked(false);
  double sum = 0;
  for (const auto& candidate : all)
    sum += std::exp(candidate.value);
  for (auto& candidate : all)
    candidate.value -= std::log(sum);
  all.resize(std::min(count, all.size()));
  return all;
}

std::vector<Candidate> Generation::best_sampled(std::size_t count, std::size_t top_k) const {
  auto all = ranked(true);
  if (sampling_.temperature <= 0) {
    all.resize(1);
    all.front().value = 1;
    return all;
  }
  if (top_k > 0) all.resize(std::min(top_k, all.size()));
  const double top = all.front().value;
  double sum = 0;
  for (auto& candidate : all) {
    candidate.value = std::exp((candidate.value - top) / sampling_.temperature);
    sum += candidate.value;
  }
  for (auto& candidate : all)
    candidate.value /= sum;
  all.resize(std::min(count, all.size()));
  return all;
}

}  // namespace fake
