/// \file
/// Which requests give a case's rows. A sans-IO state machine.
#pragma once

#include <llamavisor/decision.hpp>

#include "scoring/option_tree.hpp"
#include "server/score_request.hpp"
#include "server/server_call.hpp"

#include <cstddef>
#include <deque>
#include <optional>
#include <string_view>
#include <vector>

namespace llamavisor::scoring {

/// One question, as ids.
struct AskedRow {
  std::vector<TokenId> ids{};
  std::vector<std::vector<TokenId>> options{};  ///< each option's ids

  bool single_tokens() const;
};

/// What all rows of a case share: the longest common prefix, but at least one token less than the
/// shortest.
std::size_t shared_length(std::span<const AskedRow> rows);

/// The requests of docs/decisions/0006-scores.md, one at a time: each is made from what the one
/// before it was answered.
///
/// | step       | its answer                           | then                                  |
/// |------------|--------------------------------------|---------------------------------------|
/// | prefix     | -                                    | the row's own step                    |
/// | barrier    | -                                    | the row's own step                    |
/// | row        | the cache was cut elsewhere          | prefix and row, once; then an error   |
/// |            | no probabilities, or one below 1e-30 | barrier and vocabulary                |
/// |            | an option is missing                 | barrier and row with a larger bias,   |
/// |            |                                      | once; then an error                   |
/// |            | all options                          | the next row                          |
/// | vocabulary | all tokens                           | the next row                          |
/// | edge       | its log-probability                  | the next edge, or the next row        |
/// |            | no probabilities                     | vocabulary, for this edge             |
class RowPlan {
 public:
  /// What is not asked of the server.
  struct Model {
    int vocabulary = 0;      ///< tokens
    TokenId text_token = 0;  ///< one that is valid text by itself
  };

  /// Of `plan` reference or exact one row alone becomes cold.
  RowPlan(std::vector<AskedRow> rows, Plan plan, const Model& model);

  /// Begins anew, on another server.
  void restart();

  /// The call that is due; empty when all rows are there.
  std::optional<server::ServerCall> next() const;

  /// Its answer, of status 200. Throws `Error` (`protocol_error`).
  void answer(std::string_view body);

  /// Log-probabilities among each row's options.
  const std::vector<std::vector<double>>& results() const noexcept { return results_; }

  const std::vector<AskedRow>& rows() const noexcept { return rows_; }
  Plan plan() const noexcept { return plan_; }
  std::size_t shared() const noexcept { return shared_; }

 private:
  enum class Step { prefix, barrier, row, vocabulary, edge };

  void begin_row();
  void begin_edges();
  std::vector<Step> own_steps() const;
  void steps_again(bool with_prefix);
  void read_row(const server::ScoreReply& reply);
  void read_vocabulary(const server::ScoreReply& reply);
  void read_edge(Step step, const server::ScoreReply& reply);
  bool cut_where_it_should(const server::ScoreReply& reply);
  void finish_row(std::vector<double> row);
  bool cold() const noexcept { return plan_ == Plan::cold; }
  std::vector<TokenId> barrier_ids() const;
  const AskedRow& row() const { return rows_[results_.size()]; }

  std::vector<AskedRow> rows_;
  Plan plan_;
  Model model_;
  std::size_t shared_ = 0;
  std::vector<std::vector<double>> results_;

  // Of the row under way.
  std::deque<Step> steps_;
  double bias_ = 0;
  bool again_ = false;  ///< the cache was cut elsewhere once
  std::optional<OptionTree> tree_{};
  std::vector<double> edge_scores_;

  TokenId in_slot_ = -1;  ///< the id at place P of what the slot holds
};

}  // namespace llamavisor::scoring
