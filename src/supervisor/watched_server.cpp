#include "supervisor/watched_server.hpp"

#include "http/collect.hpp"
#include "server/completion_request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace llamavisor::supervisor {

namespace {

using Clock = std::chrono::steady_clock;

// A server that used a tenth of one processor or more computes. One whose computing thread was
// frozen, but which sent keep-alives, used none in 5 s; one that decodes uses a whole one or more
// (build 11669 on the CPU, and on llvmpipe once its submitted work was done).
constexpr int computing_share = 10;

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
  if (action == Watchdog::Action::unanswered) return judge();
  if (action == Watchdog::Action::probe) probe();
  watch();
}

void WatchedServer::probe() {
  probe_.began = Clock::now();
  probe_.processor_time = incarnation_->processor_time();
  probe_.wanted_processor = incarnation_->wants_processor();
  probe_.calls.emplace(runtime_, running(), [this] {
    probe_.calls.reset();
    probe_limit_.cancel();
    watchdog_.spare(Clock::now());
    watch();
  });
}

/// What computes on a processor uses it, also while its loop does not turn; or, where others crowd
/// it out, waits for it. What hangs sleeps, but for the moments of a keep-alive: one of these at
/// both ends of a probe is rare, and buys it one more probe.
bool WatchedServer::computes() const {
  const auto used = incarnation_->processor_time() - probe_.processor_time;
  if (used * computing_share >= Clock::now() - probe_.began) return true;
  return probe_.wanted_processor && incarnation_->wants_processor();
}

/// The probe's limit is over.
void WatchedServer::judge() {
  if (!computes()) return condemn_hung();
  watchdog_.spare(Clock::now());
  watch();
}

void WatchedServer::suspect() {
  if (limits_.probe.count() == 0) return;
  probe();
  probe_limit_.arm(limits_.probe, [this] { judge(); });
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
                               [weak = weak_from_this()](const http::Collected& answer) {
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
