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
  limit_.arm(limit, [self = shared_from_this(), limit] {
    self->lose();
    self->finish(Failure{.code = errc::server_hung,
                         .message = fmt::format("llama-server did not answer {} for {} s",
                                                self->call_.target, limit.count() / 1000.0)},
                 {});
  });
}

void QuestionJob::answered(http::Collected answer) {
  exchange_.reset();
  limit_.cancel();
  if (answer.end != http::End::complete) {
    return supervisor_->lost_connection(*this, std::move(answer.detail));
  }
  if (answer.status == 200) return finish(std::nullopt, std::move(answer.body));
  finish(server::to_failure(server::parse_error(answer.status, answer.body), phase()), {});
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
