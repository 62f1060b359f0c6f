#include "scoring/row_plan.hpp"

#include <llamavisor/error.hpp>

#include "scoring/answers.hpp"
#include "server/json.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace llamavisor::scoring {

namespace {

constexpr double first_bias = 100.0;
constexpr double second_bias = 1000.0;

/// Where floats are near the end of their range, a softmax loses digits.
const double smallest_logprob = std::log(1e-30);

std::size_t common_length(std::span<const TokenId> a, std::span<const TokenId> b) {
  return static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first -
                                  a.begin());
}

std::optional<double> find_logprob(const server::ScoreReply& reply, TokenId id) {
  for (const auto& entry : reply.top) {
    if (entry.id == id) return entry.logprob;
  }
  return std::nullopt;
}

}  // namespace

bool AskedRow::single_tokens() const {
  return std::all_of(options.begin(), options.end(),
                     [](const auto& option) { return option.size() == 1; });
}

std::size_t shared_length(std::span<const AskedRow> rows) {
  auto shared = rows.front().ids.size() - 1;
  for (const auto& row : rows) {
    shared = std::min({shared, row.ids.size() - 1, common_length(rows.front().ids, row.ids)});
  }
  return shared;
}

RowPlan::RowPlan(std::vector<AskedRow> rows, Plan plan, const Model& model)
    : rows_(std::move(rows)),
      plan_(rows_.size() == 1 ? Plan::cold : plan),
      model_(model),
      shared_(shared_length(rows_)) {
  // Nothing in common: there is nothing to keep.
  if (shared_ == 0) plan_ = Plan::cold;
  restart();
}

void RowPlan::restart() {
  results_.clear();
  in_slot_ = -1;
  begin_row();
}

void RowPlan::begin_row() {
  steps_.clear();
  again_ = false;
  bias_ = first_bias;
  tree_.reset();
  if (results_.size() == rows_.size()) return;
  if (!row().single_tokens()) begin_edges();
  const bool first = in_slot_ < 0;
  if (!cold() && first) steps_.push_back(Step::prefix);
  const bool cut_anyway = plan_ == Plan::exact && row().ids[shared_] != in_slot_;
  if (!cold() && !first && !cut_anyway) steps_.push_back(Step::barrier);
  for (const auto step : own_steps())
    steps_.push_back(step);
}

void RowPlan::begin_edges() {
  tree_.emplace(row().options);
  edge_scores_.clear();
}

std::vector<RowPlan::Step> RowPlan::own_steps() const {
  if (!tree_) return {Step::row};
  return std::vector<Step>(tree_->edges().size() - edge_scores_.size(), Step::edge);
}

/// The row once more, from a cache that is cut back.
void RowPlan::steps_again(bool with_prefix) {
  if (tree_) begin_edges();
  steps_.clear();
  if (!cold()) steps_.push_back(with_prefix ? Step::prefix : Step::barrier);
  for (const auto step : own_steps())
    steps_.push_back(step);
}

std::vector<TokenId> RowPlan::barrier_ids() const {
  const auto& ids = row().ids;
  std::vector<TokenId> result(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(shared_));
  TokenId other = 0;
  while (other == in_slot_ || other == ids[shared_])
    ++other;
  result.push_back(other);
  return result;
}

std::optional<server::ServerCall> RowPlan::next() const {
  if (steps_.empty()) return std::nullopt;
  const auto& ids = row().ids;
  const auto call_at_edge = [&] {
    const auto& edge = tree_->edges()[edge_scores_.size()];
    auto with_path = ids;
    with_path.insert(with_path.end(), edge.path.begin(), edge.path.end());
    return steps_.front() == Step::edge ? server::ask_token_score(with_path, edge.next, !cold())
                                        : server::ask_vocabulary_row(with_path, model_.vocabulary,
                                                                     model_.text_token, !cold());
  };
  if (tree_ && (steps_.front() == Step::edge || steps_.front() == Step::vocabulary)) {
    return call_at_edge();
  }
  switch (steps_.front()) {
    case Step::prefix: return server::ask_prefix(std::span(ids).first(shared_), false);
    case Step::barrier: return server::ask_prefix(barrier_ids(), true);
    case Step::row: {
      std::vector<TokenId> options;
      for (const auto& option : row().options)
        options.push_back(option.front());
      return server::ask_option_row(ids, options, bias_, !cold());
    }
    default: break;
  }
  return server::ask_vocabulary_row(ids, model_.vocabulary, model_.text_token, !cold());
}

void RowPlan::answer(std::string_view body) {
  const auto reply = server::parse_score(body);
  const auto step = steps_.front();
  steps_.pop_front();
  if (step == Step::prefix || step == Step::barrier) return;
  in_slot_ = row().ids[shared_];
  const bool first = !tree_ || (step == Step::edge && edge_scores_.empty());
  if ((first || cold()) && !cut_where_it_should(reply)) return;
  if (tree_) return read_edge(step, reply);
  step == Step::row ? read_row(reply) : read_vocabulary(reply);
}

bool RowPlan::cut_where_it_should(const server::ScoreReply& reply) {
  const auto expected = cold() ? std::size_t{0} : shared_;
  if (reply.cached >= 0 && static_cast<std::size_t>(reply.cached) == expected) return true;
  if (std::exchange(again_, true)) {
    server::throw_protocol_error(
        fmt::format("of a prompt's {} tokens it has kept {}, not {}: for a model that cannot cut "
                    "its cache back there is Plan::cold",
                    row().ids.size(), reply.cached, expected));
  }
  steps_again(true);
  return false;
}

void RowPlan::read_row(const server::ScoreReply& reply) {
  std::vector<double> values;
  bool too_small = !reply.told;
  for (const auto& option : row().options) {
    const auto found = find_logprob(reply, option.front());
    if (found && *found < smallest_logprob) too_small = true;
    if (found) values.push_back(*found);
  }
  const bool missing = reply.told && values.size() < row().options.size();
  if (missing) {
    if (bias_ == second_bias) {
      server::throw_protocol_error(
          "an option is not among the most probable tokens, though raised");
    }
    bias_ = second_bias;
    return steps_again(false);
  }
  if (too_small) {
    steps_again(false);
    steps_.back() = Step::vocabulary;
    return;
  }
  finish_row(std::move(values));
}

void RowPlan::read_vocabulary(const server::ScoreReply& reply) {
  std::vector<double> values;
  for (const auto& option : row().options) {
    const auto found = find_logprob(reply, option.front());
    if (!found) {
      throw Error(errc::invalid_option, fmt::format("the model has no token {}", option.front()));
    }
    values.push_back(*found);
  }
  finish_row(std::move(values));
}

void RowPlan::read_edge(Step step, const server::ScoreReply& reply) {
  const auto token = tree_->edges()[edge_scores_.size()].next;
  const auto logprob = step == Step::edge ? reply.sampled : find_logprob(reply, token);
  if (!logprob) {
    // Only part of a character: the whole vocabulary tells.
    if (step == Step::edge) return steps_.push_front(Step::vocabulary);
    throw Error(errc::invalid_option, fmt::format("the model has no token {}", token));
  }
  edge_scores_.push_back(*logprob);
  if (edge_scores_.size() == tree_->edges().size()) finish_row(tree_->sums(edge_scores_));
}

void RowPlan::finish_row(std::vector<double> row) {
  log_softmax(row);
  results_.push_back(std::move(row));
  begin_row();
}

}  // namespace llamavisor::scoring
