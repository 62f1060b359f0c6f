#include "model/question_job.hpp"

#include <fmt/format.h>

#include <utility>

namespace llamavisor::model {

QuestionJob::QuestionJob(std::shared_ptr<supervisor::Supervisor> supervisor,
                         server::ServerCall call, bool needs_slot, Done done)
    : supervisor_(std::move(supervisor)),
      call_(std::move(call)),
      needs_slot_(needs_slot),
      done_(std::move(done)),
      limit_(*supervisor_->runtime()) {}

void QuestionJob::run(const supervisor::RunningServer& server) {
  exchange_ = http::collect(
      supervisor_->runtime(), server.endpoint, server.request(call_),
      [self = shared_from_this()](http::Collected answer) { self->answered(std::move(answer)); });
  const auto limit = supervisor_->limits().small_call;
  if (needs_slot_ || limit.count() == 0) return;
  // A server that hangs is found out by the probe that this starts, and then the question goes to
  // the next one; otherwise it is only slow, and the answer is still wanted.
  limit_.arm(limit, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->supervisor_->unanswered(*self);
  });
}

void QuestionJob::answered(http::Collected answer) {
  exchange_.reset();
  limit_.cancel();
  if (answer.end != http::End::complete) {
    return supervisor_->connection_broke(
        shared_from_this(), {.code = errc::server_error,
                             .message = fmt::format("the connection to llama-server broke ({}), "
                                                    "though the server lives",
                                                    answer.detail),
                             .phase = phase()});
  }
  if (answer.status == 200) return finish(std::nullopt, std::move(answer.body));
  auto failure = server::to_failure(server::parse_error(answer.status, answer.body), phase());
  // 501: it is well, but cannot do this.
  const bool refused = failure.http_status < 500 || failure.http_status == 501;
  if (refused) return finish(std::move(failure), {});
  supervisor_->server_failed(shared_from_this(), std::move(failure));
}

void QuestionJob::finish(std::optional<Failure> failure, std::string body) {
  const auto self = shared_from_this();
  if (!done_) return;
  limit_.cancel();
  supervisor_->finished(*this);
  std::exchange(done_, nullptr)(std::move(failure), std::move(body));
}

void QuestionJob::lose() {
  limit_.cancel();
  if (exchange_) exchange_->abort();
  exchange_.reset();
}

void QuestionJob::fail(Failure failure) {
  lose();
  if (done_) std::exchange(done_, nullptr)(std::move(failure), {});
}

}  // namespace llamavisor::model
