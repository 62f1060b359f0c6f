#include "scoring/score_job.hpp"

#include <fmt/format.h>

#include <utility>

namespace llamavisor::scoring {

ScoreJob::ScoreJob(std::shared_ptr<supervisor::Supervisor> supervisor, RowPlan plan, Done done)
    : supervisor_(std::move(supervisor)),
      outcome_{.plan = std::move(plan)},
      done_(std::move(done)) {}

void ScoreJob::run(const supervisor::RunningServer& server) {
  server_ = server;
  outcome_.device = server.device;
  outcome_.engine_build = server.engine_build;
  ++outcome_.servers;
  served_ = false;
  outcome_.plan.restart();
  ask();
}

void ScoreJob::ask() {
  const auto call = outcome_.plan.next();
  if (!call) return finish(std::nullopt);
  exchange_ = http::collect(
      supervisor_->runtime(), server_.endpoint, server_.request(*call),
      [self = shared_from_this()](http::Collected answer) { self->answered(std::move(answer)); });
}

void ScoreJob::answered(http::Collected answer) {
  exchange_.reset();
  if (answer.end != http::End::complete) {
    return supervisor_->connection_broke(
        shared_from_this(), {.code = errc::server_error,
                             .message = fmt::format("the connection to llama-server broke ({}), "
                                                    "though the server lives",
                                                    answer.detail),
                             .phase = phase()});
  }
  if (answer.status != 200) {
    auto failure = server::to_failure(server::parse_error(answer.status, answer.body), phase());
    if (failure.http_status < 500) return finish(std::move(failure));
    return supervisor_->server_failed(shared_from_this(), std::move(failure));
  }
  try {
    outcome_.plan.answer(answer.body);
    if (!std::exchange(served_, true)) supervisor_->served(*this);
    supervisor_->progressed(*this);
    ask();
  } catch (const Error& error) {
    finish(error.failure());
  }
}

void ScoreJob::finish(std::optional<Failure> failure) {
  const auto self = shared_from_this();
  if (!done_) return;
  supervisor_->finished(*this);
  std::exchange(done_, nullptr)(std::move(failure), std::move(outcome_));
}

void ScoreJob::lose() {
  if (exchange_) exchange_->abort();
  exchange_.reset();
}

void ScoreJob::fail(Failure failure) {
  lose();
  if (done_) std::exchange(done_, nullptr)(std::move(failure), std::move(outcome_));
}

}  // namespace llamavisor::scoring
