#include "supervisor/watched_server.hpp"

#include "http/collect.hpp"
#include "server/completion_request.hpp"

#include <fmt/format.h>

#include <chrono>
#include <utility>

namespace llamavisor::supervisor {

namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

std::shared_ptr<WatchedServer> WatchedServer::start(std::shared_ptr<Runtime> runtime,
                                                    server::ServerSpec spec,
                                                    server::Identity identity, const Limits& limits,
                                                    int generation,
                                                    server::Incarnation::Handlers handlers) {
  std::shared_ptr<WatchedServer> self(new WatchedServer(runtime, limits, generation));
  self->incarnation_ = server::Incarnation::start(std::move(runtime), std::move(spec),
                                                  std::move(identity), limits, std::move(handlers));
  return self;
}

WatchedServer::WatchedServer(std::shared_ptr<Runtime> runtime, const Limits& limits, int generation)
    : runtime_(std::move(runtime)),
      limits_(limits),
      generation_(generation),
      watchdog_(limits),
      watch_(*runtime_),
      probe_limit_(*runtime_),
      examination_limit_(*runtime_) {}

WatchedServer::~WatchedServer() {
  if (probe_) probe_->abort();
  if (examination_) examination_->abort();
}

void WatchedServer::stop() {
  watch_.cancel();
  probe_limit_.cancel();
  examination_limit_.cancel();
  incarnation_->stop();
}

RunningServer WatchedServer::running() const {
  const auto& facts = incarnation_->facts();
  return {.endpoint = incarnation_->endpoint(),
          .key = incarnation_->key(),
          .generation = generation_,
          .device = spec().device,
          .engine_build = spec().engine.build,
          .slots = std::max(1, facts.slots()),
          .context_length = facts.context_length(),
          .bos_text = facts.bos_text()};
}

void WatchedServer::expect(Expectation expectation) {
  watchdog_.expect(expectation, Clock::now());
  watch();
}

void WatchedServer::progress() {
  // Often: the alarm is left as it stands, and looks at the time when it comes.
  watchdog_.progress(Clock::now());
  progress_since_examined_ = true;
}

void WatchedServer::watch() {
  const auto deadline = watchdog_.deadline();
  if (!deadline) return watch_.cancel();
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*deadline - Clock::now());
  watch_.arm(std::max(left, std::chrono::milliseconds{0}),
             [this] { act(watchdog_.expired(Clock::now())); });
}

void WatchedServer::act(Watchdog::Action action) {
  if (action == Watchdog::Action::hung) return condemn_hung();
  if (action == Watchdog::Action::probe) probe();
  watch();
}

/// `/slots` passes through the compute loop, so its answer proves that the loop turns.
void WatchedServer::probe() {
  if (probe_) probe_->abort();
  const auto server = running();
  probe_ = http::collect(runtime_, server.endpoint, server.request(server::ask_slots()),
                         [weak = weak_from_this()](http::Collected answer) {
                           const auto self = weak.lock();
                           if (!self) return;
                           self->probe_.reset();
                           if (answer.end != http::End::complete) return;
                           self->probe_limit_.cancel();
                           self->watchdog_.probe_answered(Clock::now());
                           self->watch();
                         });
}

void WatchedServer::suspect() {
  if (limits_.probe.count() == 0) return;
  probe();
  probe_limit_.arm(limits_.probe, [this] { condemn_hung(); });
}

void WatchedServer::condemn_hung() {
  incarnation_->condemn({.code = errc::server_hung,
                         .message = fmt::format(
                             "llama-server ({}) hangs: no token, no progress, and its compute loop "
                             "does not answer; it was killed",
                             spec().device),
                         .phase = Phase::generation,
                         .cause = Cause::hung});
}

void WatchedServer::examine(Failure failure, std::function<void()> on_sound) {
  on_sound_.push_back(std::move(on_sound));
  if (examination_) return;
  examined_failure_ = std::move(failure);
  progress_since_examined_ = false;
  const auto server = running();
  examination_ = http::collect(runtime_, server.endpoint, server.request(server::ask_first_token()),
                               [weak = weak_from_this()](http::Collected answer) {
                                 const auto self = weak.lock();
                                 if (!self) return;
                                 self->examination_.reset();
                                 bool sound =
                                     answer.end == http::End::complete && answer.status == 200;
                                 try {
                                   if (sound) server::check_first_token(answer.body);
                                 } catch (const Error&) {
                                   sound = false;
                                 }
                                 self->examined(sound);
                               });
  if (limits_.prompt_soft.count() == 0) return;
  examination_limit_.arm(limits_.prompt_soft + limits_.probe, [this] {
    if (examination_) examination_->abort();
    examination_.reset();
    examined(progress_since_examined_);  // others get tokens: then it only waited for a slot
  });
}

void WatchedServer::examined(bool sound) {
  examination_limit_.cancel();
  auto waiting = std::exchange(on_sound_, {});
  if (!sound) return incarnation_->condemn(examined_failure_);
  for (const auto& tell : waiting)
    tell();
}

}  // namespace llamavisor::supervisor
