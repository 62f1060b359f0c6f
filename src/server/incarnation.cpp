#include "server/incarnation.hpp"

#include "http/collect.hpp"
#include "runtime/host_environment.hpp"
#include "server/completion_request.hpp"
#include "server/device_list.hpp"
#include "server/diagnosis.hpp"
#include "server/server_call.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <utility>

namespace llamavisor::server {

namespace {

constexpr std::chrono::milliseconds poll_interval{15};
constexpr std::size_t reported_lines = 20;

/// The diagnosis sees more: rocBLAS lists its files after its error.
constexpr std::size_t diagnosed_lines = 100;

/// Above the host's own, so that the kernel takes the server first when memory runs out.
int server_oom_score_adj() {
  int own = 0;
  std::ifstream("/proc/self/oom_score_adj") >> own;
  return std::min(own + 300, 1000);
}

Failure spawn_failure(const process::SpawnError& error, const ServerSpec& spec) {
  Failure failure{.code = errc::engine_broken, .phase = Phase::spawn};
  const bool moved = error.error == ENOENT && error.step == "execve";
  failure.message = fmt::format(
      "cannot start the {} engine in {}: {}: {}{}; get it anew with: tools/get-engine {}",
      spec.engine.flavour, spec.engine.folder.string(), error.step, std::strerror(error.error),
      moved ? " (the executable or the loader that it names is gone: was the pack moved?)" : "",
      spec.engine.flavour);
  return failure;
}

}  // namespace

std::shared_ptr<Incarnation> Incarnation::start(std::shared_ptr<Runtime> runtime, ServerSpec spec,
                                                Identity identity, Limits limits,
                                                Handlers handlers) {
  std::shared_ptr<Incarnation> self(new Incarnation(
      std::move(runtime), std::move(spec), std::move(identity), limits, std::move(handlers)));
  self->spawn();
  return self;
}

Incarnation::Incarnation(std::shared_ptr<Runtime> runtime, ServerSpec spec, Identity identity,
                         Limits limits, Handlers handlers)
    : runtime_(std::move(runtime)),
      spec_(std::move(spec)),
      identity_(std::move(identity)),
      limits_(limits),
      handlers_(std::move(handlers)),
      endpoint_{.unix_path = identity_.unix_path},
      readiness_(identity_.alias),
      poll_(*runtime_),
      silence_(*runtime_) {}

Incarnation::~Incarnation() {
  if (question_) question_->abort();
}

void Incarnation::spawn() {
  process::SpawnError error;
  process::SpawnRequest request;
  try {
    request.command = command_line(spec_, identity_);
  } catch (const Error& refused) {
    report_down({.failure = refused.failure()});
    return;
  }
  request.environment = child_environment(spec_, identity_, host_environment());
  // ggml looks for its plug-ins in the working directory too: the pack's own, never the host's.
  request.working_directory = spec_.engine.folder;
  request.oom_score_adj = server_oom_score_adj();
  const auto weak = weak_from_this();
  child_ = process::ChildProcess::spawn(runtime_, request,
                                        {.on_line =
                                             [weak](std::string_view line) {
                                               if (const auto self = weak.lock())
                                                 self->took_line(line);
                                             },
                                         .on_exit =
                                             [weak](process::ExitStatus status) {
                                               if (const auto self = weak.lock())
                                                 self->exited(status);
                                             },
                                         .on_unreaped =
                                             [weak](std::int64_t pid) {
                                               if (const auto self = weak.lock()) self->stayed(pid);
                                             },
                                         .on_output =
                                             [weak] {
                                               if (const auto self = weak.lock())
                                                 self->showed_life();
                                             }},
                                        error);
  if (!child_) {
    report_down({.failure = spawn_failure(error, spec_)});
    return;
  }
  watch_silence();
  ask_later();
}

void Incarnation::act(Readiness::Action action) {
  if (down_ || stopping_) return;
  switch (action) {
    case Readiness::Action::ask_health: return ask(ask_health());
    case Readiness::Action::ask_properties: return ask(ask_properties());
    case Readiness::Action::ask_token: return ask(ask_first_token());
    case Readiness::Action::ask_later: return ask_later();
    case Readiness::Action::report_ready: silence_.cancel(); return handlers_.on_ready();
    case Readiness::Action::report_failure: return condemn(readiness_.failure());
  }
}

void Incarnation::ask(const ServerCall& call) {
  if (endpoint_.unix_path.empty() && endpoint_.port == 0) {
    const auto port = child_->listening_tcp_port();
    if (!port) return ask_later();
    endpoint_.port = *port;
  }
  // A stranger must not learn the key from our knocking: the health check goes without it.
  const bool with_key = readiness_.state() != Readiness::State::listening;
  question_ = http::collect(runtime_, endpoint_,
                            {.method = call.method,
                             .target = call.target,
                             .body = call.body,
                             .bearer_key = with_key ? identity_.key : std::string{}},
                            [weak = weak_from_this()](const http::Collected& answer) {
                              const auto self = weak.lock();
                              if (!self) return;
                              self->question_.reset();
                              const bool whole = answer.end == http::End::complete;
                              self->act(self->readiness_.answered(
                                  {.status = whole ? answer.status : 0, .body = answer.body}));
                            });
}

void Incarnation::ask_later() {
  poll_.arm(poll_interval, [this] { act(readiness_.due()); });
}

void Incarnation::showed_life() {
  any_output_ = true;
  watch_silence();
}

void Incarnation::took_line(std::string_view line) {
  if (ready()) return;
  if (const auto progress = log_.read(line); progress && !down_) handlers_.on_progress(*progress);
}

/// The load limit counts silence, not time: a slow load lives, a stuck one does not.
void Incarnation::watch_silence() {
  if (limits_.load_silence.count() == 0 || ready() || stopping_) return;
  silence_.arm(limits_.load_silence, [this] {
    condemn({.code = errc::load_stalled,
             .message = fmt::format(
                 "llama-server ({}) has shown no sign of life for {} s while loading; raise "
                 "Limits::load_silence if it only needs longer",
                 spec_.device, static_cast<double>(limits_.load_silence.count()) / 1000),
             .phase = phase(),
             .cause = Cause::hung});
  });
}

void Incarnation::stop() {
  if (down_ || stopping_) return;
  stopping_ = true;
  poll_.cancel();
  silence_.cancel();
  if (question_) question_->abort();
  if (std::exchange(devices_, nullptr)) return report_down({.asked = true});  // it has ended
  child_->stop(process::default_stop_plan(limits_.stop_grace, limits_.reap));
}

void Incarnation::condemn(Failure failure) {
  if (down_ || stopping_ || condemned_) return;
  failure.last_lines = child_->last_lines(reported_lines);
  condemned_ = std::move(failure);
  stopping_ = true;
  poll_.cancel();
  silence_.cancel();
  if (question_) question_->abort();
  child_->stop(process::default_stop_plan({}, limits_.reap));
}

void Incarnation::exited(process::ExitStatus status) {
  if (condemned_) return report_down({.failure = std::move(*condemned_)});
  if (stopping_) return report_down({.asked = true});
  auto failure = make_failure({.phase = phase(),
                               .exit = status,
                               .on_gpu = spec_.on_gpu(),
                               .any_output = any_output_,
                               .last_lines = child_->last_lines(diagnosed_lines)},
                              spec_.device);
  if (failure.cause == Cause::unknown_device) return ask_for_devices(std::move(failure));
  report_down({.failure = std::move(failure)});
}

/// Only whoever was told to end can stay: `stop()`, or condemned.
void Incarnation::stayed(std::int64_t pid) {
  report_down({.asked = !condemned_,
               .unreaped = Failure{.code = errc::unreaped,
                                   .message = fmt::format("the kernel keeps process {} alive after "
                                                          "SIGKILL: its device may need a reset",
                                                          pid),
                                   .phase = Phase::stop},
               .failure = condemned_.value_or(Failure{})});
}

/// Whoever names a device that is not there wants to know which are: the engine is asked, and only
/// then is the failure told.
void Incarnation::ask_for_devices(Failure failure) {
  poll_.cancel();
  silence_.cancel();
  if (question_) question_->abort();
  auto answered = [weak = weak_from_this(),
                   failure = std::move(failure)](const DeviceAnswer& answer) mutable {
    const auto self = weak.lock();
    if (!self) return;
    self->devices_.reset();
    failure.message += answer.devices ? "; " + describe_device_list(*answer.devices)
                                      : "; it does not say which it has: " + answer.fault;
    self->report_down({.failure = std::move(failure)});
  };
  devices_ =
      DeviceQuestion::ask(runtime_, spec_, child_environment(spec_, identity_, host_environment()),
                          limits_.device_list, std::move(answered));
}

void Incarnation::report_down(Down down) {
  if (down_) return;
  down_ = true;
  poll_.cancel();
  silence_.cancel();
  if (question_) question_->abort();
  // Never from within start(): the caller does not hold us yet.
  runtime_->post([self = shared_from_this(), down = std::move(down)]() mutable {
    self->handlers_.on_down(std::move(down));
    self->handlers_ = {};
  });
}

Phase Incarnation::phase() const {
  return ready() ? handlers_.serving_phase() : readiness_.phase();
}

std::uint64_t Incarnation::memory() const {
  return child_ ? child_->resident_memory() : 0;
}

std::chrono::milliseconds Incarnation::processor_time() const {
  return child_ ? child_->processor_time() : std::chrono::milliseconds{0};
}

bool Incarnation::wants_processor() const {
  return child_ && child_->wants_processor();
}

std::vector<std::string> Incarnation::last_lines() const {
  return child_ ? child_->last_lines(reported_lines) : std::vector<std::string>{};
}

}  // namespace llamavisor::server
