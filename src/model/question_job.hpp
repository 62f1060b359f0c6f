/// \file
/// A small question to the server: tokenize, template, scores of one token.
#pragma once

#include "http/collect.hpp"
#include "runtime/timer.hpp"
#include "server/server_call.hpp"
#include "supervisor/supervisor.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace llamavisor::model {

/// Asks once on each server that it is given, and ends with the body of a 200, or with a failure: a
/// question of a dead server is asked again of the next.
class QuestionJob final : public supervisor::Job, public std::enable_shared_from_this<QuestionJob> {
 public:
  using Done = std::function<void(std::optional<Failure>, std::string body)>;

  /// `needs_slot`: it computes, and so is not held to `Limits::small_call`.
  QuestionJob(std::shared_ptr<supervisor::Supervisor> supervisor, server::ServerCall call,
              bool needs_slot, Done done);

  bool needs_slot() const noexcept override { return needs_slot_; }
  Phase phase() const noexcept override { return needs_slot_ ? Phase::prompt : Phase::idle; }
  supervisor::Expectation expectation() const noexcept override {
    return needs_slot_ ? supervisor::Expectation::prompt : supervisor::Expectation::nothing;
  }
  void run(const supervisor::RunningServer& server) override;
  void lose() override;
  void fail(Failure failure) override;

 private:
  void answered(http::Collected answer);
  void finish(std::optional<Failure> failure, std::string body);

  std::shared_ptr<supervisor::Supervisor> supervisor_;
  server::ServerCall call_;
  bool needs_slot_;
  Done done_;
  Timer limit_;
  std::shared_ptr<http::Exchange> exchange_;
};

}  // namespace llamavisor::model
