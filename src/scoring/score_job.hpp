/// \file
/// A case's requests, one after the other on one server.
#pragma once

#include "http/collect.hpp"
#include "scoring/row_plan.hpp"
#include "supervisor/supervisor.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace llamavisor::scoring {

/// Carries out a `RowPlan` on a slot that it has to itself as far as this model is loaded with one.
/// When the server dies it begins anew on the next one: all rows are one process's.
class ScoreJob final : public supervisor::Job, public std::enable_shared_from_this<ScoreJob> {
 public:
  struct Outcome {
    RowPlan plan;
    std::string device{};
    int engine_build = 0;
    int servers = 0;
  };
  using Done = std::function<void(std::optional<Failure>, Outcome)>;

  ScoreJob(std::shared_ptr<supervisor::Supervisor> supervisor, RowPlan plan, Done done);

  bool needs_slot() const noexcept override { return true; }
  Phase phase() const noexcept override { return Phase::prompt; }
  supervisor::Expectation expectation() const noexcept override {
    return supervisor::Expectation::prompt;
  }
  void run(const supervisor::RunningServer& server) override;
  void lose() override;
  void fail(Failure failure) override;

 private:
  void ask();
  void answered(http::Collected answer);
  void finish(std::optional<Failure> failure);

  std::shared_ptr<supervisor::Supervisor> supervisor_;
  Outcome outcome_;
  Done done_;
  supervisor::RunningServer server_;
  std::shared_ptr<http::Exchange> exchange_;
  bool served_ = false;  ///< this server has answered something
};

}  // namespace llamavisor::scoring
