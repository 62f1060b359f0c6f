#include "model/continuation.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace llamavisor::model {

namespace {

constexpr std::uint32_t seed_step = 0x9E3779B9;  // 2^32 divided by the golden ratio

}  // namespace

Continuation::Continuation(GenerateOptions options, LetThrough let_through)
    : options_(std::move(options)), let_through_(std::move(let_through)) {}

bool Continuation::has_grammar() const noexcept {
  return !options_.grammar.empty() || !options_.json_schema.empty();
}

/// Whether a regeneration from the safe point can be expected to repeat.
bool Continuation::deterministic() const noexcept {
  if (options_.temperature && *options_.temperature == 0) return true;
  if (options_.top_k && *options_.top_k == 1) return true;
  return options_.seed && safe_tokens_ == 0;
}

bool Continuation::complete() const noexcept {
  return options_.max_tokens > 0 && tokens_ >= options_.max_tokens;
}

Continuation::Plan Continuation::begin(int generation, bool same_device) {
  held_.clear();
  repeating_ = false;
  const bool first = std::exchange(generation_, generation) == 0;
  if (first) return {.options = options_};
  if (text_.empty()) {
    base_tokens_ = 0;
    resumes_.push_back({.generation = generation, .way = ResumeWay::replayed});
    return {.options = options_};
  }
  if (has_grammar()) {
    safe_tokens_ = 0;  // a server cannot start in the middle of a grammar
    safe_bytes_ = 0;
    return plan(ResumeWay::by_regeneration, 0);
  }
  if (safe_bytes_ == text_.size()) return plan(ResumeWay::by_ids, safe_tokens_);
  if (same_device && deterministic()) return plan(ResumeWay::by_regeneration, safe_tokens_);
  return plan_by_text();
}

Continuation::Plan Continuation::plan(ResumeWay way, int known_tokens) {
  resumes_.push_back({.generation = generation_, .way = way, .text_bytes = text_.size()});
  base_tokens_ = known_tokens;
  repeating_ = way == ResumeWay::by_regeneration;
  repeated_ = safe_bytes_;
  Plan plan{.ids = {ids_.begin(), ids_.begin() + known_tokens}, .options = options_};
  if (options_.max_tokens > 0) plan.options.max_tokens -= known_tokens;
  if (options_.seed && known_tokens > 0) {
    *plan.options.seed += static_cast<std::uint32_t>(resumes_.size()) * seed_step;
  }
  return plan;
}

Continuation::Plan Continuation::plan_by_text() {
  auto next = plan(ResumeWay::by_text, safe_tokens_);
  exact_ = false;
  base_tokens_ = tokens_;
  next.text = text_.substr(safe_bytes_);
  if (options_.max_tokens > 0) next.options.max_tokens = options_.max_tokens - tokens_;
  if (options_.seed) {
    *next.options.seed = *options_.seed + static_cast<std::uint32_t>(resumes_.size()) * seed_step;
  }
  return next;
}

std::optional<Continuation::Plan> Continuation::begin_by_text() {
  if (has_grammar()) return std::nullopt;
  held_.clear();
  resumes_.pop_back();  // the regeneration came to nothing
  return plan_by_text();
}

bool Continuation::take(server::CompletionChunk&& chunk) {
  if (repeating_) return repeat(std::move(chunk));
  Held piece{
      .ids = std::move(chunk.ids),
      .token = {
          .text = std::move(chunk.text), .logprob = chunk.logprob, .top = std::move(chunk.top)}};
  if (!piece.ids.empty()) piece.token.id = piece.ids.back();
  if (piece.token.text.empty()) {
    held_.push_back(std::move(piece));
    return true;
  }
  const int tokens = base_tokens_ + chunk.tokens_predicted;
  for (auto& held : std::exchange(held_, {}))
    pass_on(std::move(held), tokens);
  pass_on(std::move(piece), tokens);
  if (ids_complete()) {
    safe_tokens_ = tokens_;
    safe_bytes_ = text_.size();
  }
  return true;
}

void Continuation::pass_on(Held&& held, int tokens) {
  text_ += held.token.text;
  ids_.insert(ids_.end(), held.ids.begin(), held.ids.end());
  tokens_ = tokens;
  let_through_(std::move(held.token));
}

/// Compares a regenerated piece with what was let through, and lets through what goes beyond.
bool Continuation::repeat(server::CompletionChunk&& chunk) {
  const std::size_t left = text_.size() - repeated_;
  const std::size_t same = std::min(left, chunk.text.size());
  if (text_.compare(repeated_, same, chunk.text, 0, same) != 0) return false;
  repeated_ += same;
  if (repeated_ < text_.size()) return true;
  repeating_ = false;
  if (chunk.text.size() == same) return true;
  // It goes beyond the seam, as the old run's pieces did not: the same text, cut another way.
  exact_ = false;
  chunk.text.erase(0, same);
  return take(std::move(chunk));
}

bool Continuation::finish(server::CompletionEnd& end) {
  if (repeating_ && repeated_ + end.text.size() < text_.size()) return false;
  if (repeating_) {
    server::CompletionChunk rest{.text = std::move(end.text),
                                 .tokens_predicted = end.tokens_predicted};
    if (!repeat(std::move(rest))) return false;
    end.text.clear();
  }
  const int tokens = base_tokens_ + end.tokens_predicted;
  for (auto& held : std::exchange(held_, {}))
    pass_on(std::move(held), tokens);
  if (!end.text.empty()) pass_on({.ids = {}, .token = {.text = std::move(end.text)}}, tokens);
  tokens_ = tokens;
  return true;
}

}  // namespace llamavisor::model
