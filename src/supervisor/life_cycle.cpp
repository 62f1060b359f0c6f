#include "supervisor/life_cycle.hpp"

#include "supervisor/late_memory.hpp"

#include <algorithm>
#include <utility>

namespace llamavisor::supervisor {

namespace {

using Kind = Action::Kind;

/// How long a generation must have lived, and given a token to a request, to count as good.
constexpr std::chrono::seconds proving_time{2};

constexpr std::size_t max_causes = 16;

Failure closed_failure() {
  return {.code = errc::closed, .message = "the model was closed: load it anew"};
}

Failure cancelled_failure() {
  return {.code = errc::cancelled, .message = "the load was cancelled", .phase = Phase::load};
}

Failure reload_failure() {
  return {.code = errc::server_died,
          .message = "the model was reloaded while this request ran: send it again"};
}

}  // namespace

LifeCycle::LifeCycle(std::vector<Rung> rungs, Policy policy)
    : rungs_(std::move(rungs)),
      smaller_(rungs_.size(), false),
      policy_(policy),
      restarts_(policy.recovery),
      standby_restarts_(policy.recovery),
      cool_down_(policy.recovery.cool_down) {}

LifeCycle::Server* LifeCycle::find(int generation) {
  const auto found = std::find_if(servers_.begin(), servers_.end(),
                                  [&](const auto& s) { return s.generation == generation; });
  return found == servers_.end() ? nullptr : &*found;
}

LifeCycle::Server* LifeCycle::find(Role role) {
  const auto found = std::find_if(servers_.begin(), servers_.end(),
                                  [&](const auto& s) { return s.role == role && !s.stopping; });
  return found == servers_.end() ? nullptr : &*found;
}

int LifeCycle::serving_generation() const noexcept {
  for (const auto& server : servers_) {
    if (server.role == Role::primary && server.ready && !server.stopping) return server.generation;
  }
  return 0;
}

/// The best rung in [from, end) that may be started.
std::optional<std::size_t> LifeCycle::best_rung(std::size_t from, std::size_t end) const {
  for (std::size_t rung = from; rung < end; ++rung) {
    if (!rungs_[rung].quarantined) return rung;
  }
  return std::nullopt;
}

std::optional<std::size_t> LifeCycle::next_rung(std::size_t rung) const {
  return best_rung(rung + 1, rungs_.size());
}

/// Whether the first death may take the model to another rung: a load does so only where nobody
/// named a device, or where it was allowed.
bool LifeCycle::may_fall_back() const {
  if (policy_.fallback == Fallback::never) return false;
  return ever_served_ || policy_.device_is_auto || policy_.fallback == Fallback::to_cpu;
}

bool LifeCycle::wants_running() const noexcept {
  return state_ == State::loading || state_ == State::serving || state_ == State::recovering;
}

void LifeCycle::spawn(std::size_t rung, Role role, Time now, Actions& out) {
  servers_.push_back({.generation = ++generations_, .rung = rung, .role = role, .spawned_at = now});
  out.push_back({.kind = Kind::spawn, .generation = generations_, .rung = rung});
}

void LifeCycle::start_fresh(Time now, Actions& out) {
  state_ = State::loading;
  ever_served_ = false;
  retries_on_rung_ = 0;
  restarts_.clear();
  standby_restarts_.clear();
  cool_down_ = policy_.recovery.cool_down;
  causes_.clear();
  left_rung_.reset();
  smaller_.assign(rungs_.size(), false);
  out.push_back({.kind = Kind::begin_load});
  const auto rung = best_rung(0, rungs_.size());
  if (rung) return spawn(*rung, Role::primary, now, out);
  fail({.code = errc::device_quarantined,
        .message = "every device of this model is quarantined after it failed hard; the next boot "
                   "lifts that, or `llamavisor doctor --clear`"},
       out);
}

/// Requests are dropped before this: a llama-server that gets its SIGTERM while a stream is open
/// has not ended within 12 s in a quarter of the tries, and always at once with the connection
/// closed.
void LifeCycle::stop_all(Actions& out) {
  out.push_back({.kind = Kind::disarm_all});
  for (auto& server : servers_) {
    if (std::exchange(server.stopping, true)) continue;
    out.push_back({.kind = Kind::stop, .generation = server.generation, .rung = server.rung});
  }
}

Actions LifeCycle::load(Time now) {
  Actions out;
  switch (state_) {
    case State::idle: start_fresh(now, out); break;
    case State::loading:
    case State::recovering:
    case State::reloading: break;  // joins
    case State::serving:
      out.push_back({.kind = Kind::drop_running, .failure = reload_failure()});
      stop_all(out);
      state_ = State::reloading;
      settle(now, out);
      break;
    case State::abandoning: state_ = State::reloading; break;
    case State::failed:
      state_ = State::reloading;  // what is still being stopped holds the device's memory
      settle(now, out);
      break;
    case State::closing:
    case State::closed: out.push_back({.kind = Kind::answer_load, .failure = closed_failure()});
  }
  return out;
}

Actions LifeCycle::abandon_load(Time now) {
  Actions out;
  if (state_ != State::loading && state_ != State::reloading) return out;
  stop_all(out);
  state_ = State::abandoning;
  settle(now, out);
  return out;
}

Actions LifeCycle::close(Time now) {
  Actions out;
  if (state_ == State::closing) return out;
  if (state_ == State::closed) return {{.kind = Kind::answer_close}};
  out.push_back({.kind = Kind::drop_all, .failure = closed_failure()});
  stop_all(out);
  out.push_back({.kind = Kind::answer_load, .failure = closed_failure()});
  state_ = State::closing;
  settle(now, out);
  return out;
}

/// Goes on where only running servers held us up.
void LifeCycle::settle(Time now, Actions& out) {
  if (!servers_.empty()) return;
  if (state_ == State::closing) {
    state_ = State::closed;
    out.push_back({.kind = Kind::answer_close});
  } else if (state_ == State::reloading) {
    start_fresh(now, out);
  } else if (state_ == State::abandoning) {
    fail(cancelled_failure(), out);
  }
}

Actions LifeCycle::became_ready(int generation, Time now) {
  Actions out;
  auto* server = find(generation);
  if (!server || server->stopping || !wants_running()) return out;
  server->ready = true;
  server->ready_at = now;
  if (server->role == Role::primary || server->role == Role::candidate)
    take_over(*server, now, out);
  return out;
}

/// Requests go to this server from now on.
void LifeCycle::take_over(Server& server, Time now, Actions& out) {
  const auto generation = server.generation;
  const auto rung = server.rung;
  if (server.role == Role::candidate) {
    if (auto* old = find(Role::primary)) {
      // A server of the last rung is just what a standby is.
      const bool keep = policy_.standby && old->rung + 1 == rungs_.size() && !find(Role::standby);
      old->role = keep ? Role::standby : Role::retiring;
      if (!keep) out.push_back({.kind = Kind::drain, .generation = old->generation});
    }
    cool_down_ = policy_.recovery.cool_down;
    if (!left_rung_) left_rung_ = serving_rung_;
  }
  server.role = Role::primary;
  serving_rung_ = rung;
  state_ = State::serving;
  out.push_back({.kind = Kind::tell_ready, .generation = generation, .rung = rung});
  if (const auto from = std::exchange(left_rung_, std::nullopt).value_or(rung); from != rung) {
    out.push_back({.kind = rung < from ? Kind::tell_promoted : Kind::tell_fell_back,
                   .generation = generation,
                   .rung = rung,
                   .from_rung = from,
                   .failure = rung < from ? std::nullopt : last_failure_});
  }
  ever_served_ = true;
  out.push_back({.kind = Kind::serve, .generation = generation, .rung = rung});
  out.push_back({.kind = Kind::answer_load});
  arrange_spares(now, out);
}

/// A standby below, and a trial of what is better, above.
void LifeCycle::arrange_spares(Time now, Actions& out) {
  const auto* primary = find(Role::primary);
  if (!primary) return;
  const auto last = rungs_.size() - 1;
  const auto rung = primary->rung;
  if (policy_.standby && rung < last && !find(Role::standby)) spawn(last, Role::standby, now, out);
  if (cool_down_.count() > 0 && best_rung(0, rung)) {
    out.push_back({.kind = Kind::arm, .alarm = Alarm::promotion, .delay = cool_down_});
  }
}

Actions LifeCycle::alarm(Alarm alarm, Time now) {
  Actions out;
  if (!wants_running()) return out;
  if (alarm == Alarm::restart) {
    const bool awaited = state_ == State::loading || state_ == State::recovering;
    if (awaited && !find(Role::primary)) {
      spawn(pending_rung_, Role::primary, now, out);
    }
    return out;
  }
  const auto* primary = find(Role::primary);
  if (state_ != State::serving || !primary) return out;
  if (alarm == Alarm::standby) {
    if (policy_.standby && primary->rung + 1 < rungs_.size() && !find(Role::standby)) {
      spawn(rungs_.size() - 1, Role::standby, now, out);
    }
  } else if (const auto better = best_rung(0, primary->rung); better && !find(Role::candidate)) {
    spawn(*better, Role::candidate, now, out);
  }
  return out;
}

void LifeCycle::served(int generation) {
  if (auto* server = find(generation)) server->served = true;
}

Actions LifeCycle::drained(int generation) {
  Actions out;
  auto* server = find(generation);
  if (!server || server->role != Role::retiring || std::exchange(server->stopping, true))
    return out;
  out.push_back({.kind = Kind::stop, .generation = generation, .rung = server->rung});
  return out;
}

Actions LifeCycle::went_down(int generation, std::optional<Failure> failure, Time now,
                             std::optional<Time> departure) {
  Actions out;
  const auto* found = find(generation);
  if (!found) return out;
  const auto dead = *found;
  std::erase_if(servers_, [&](const auto& s) { return s.generation == generation; });
  if (dead.stopping || !failure) {
    out.push_back({.kind = Kind::tell_stopped, .generation = generation, .rung = dead.rung});
    settle(now, out);
    return out;
  }
  out.push_back({.kind = Kind::tell_crashed,
                 .generation = generation,
                 .rung = dead.rung,
                 .failure = failure});
  if (await_memory(dead, *failure, now, departure, out)) return out;
  if (dead.role == Role::primary) {
    recover(dead, *failure, now, out);
  } else {
    lost_spare(dead, *failure, now, out);
  }
  return out;
}

/// A load ran out of memory that may be on its way back: true where the same rung is tried again a
/// little later. That is no crash: it takes nothing from the restart budget, and leaves no cause.
bool LifeCycle::await_memory(const Server& dead, const Failure& failure, Time now,
                             std::optional<Time> departure, Actions& out) {
  const bool at_load = !dead.ready && dead.role != Role::retiring;
  if (!at_load || !rungs_[dead.rung].on_gpu || !remedy_for(failure.cause).lacks_memory) {
    return false;
  }
  if (dead.role == Role::primary && standby_is_warm()) return false;
  const auto delay = wait_for_memory(
      {.spawned_at = dead.spawned_at, .now = now, .departure = departure}, policy_.memory_return);
  if (!delay) return false;
  out.push_back({.kind = Kind::tell_waiting, .rung = dead.rung, .delay = *delay});
  auto alarm = Alarm::restart;
  if (dead.role == Role::standby) alarm = Alarm::standby;
  if (dead.role == Role::candidate) alarm = Alarm::promotion;
  if (dead.role == Role::primary) pending_rung_ = dead.rung;
  out.push_back({.kind = Kind::arm, .alarm = alarm, .delay = *delay});
  return true;
}

/// Requests wait for a primary: where a warm standby can have them, they wait for no memory.
bool LifeCycle::standby_is_warm() {
  const auto* standby = find(Role::standby);
  return standby && standby->ready;
}

/// A load ran out of memory: true where the same rung is tried again with a smaller one, once for
/// each rung and load, and only where the caller allows it.
bool LifeCycle::make_smaller(const Server& dead, const Failure& failure, Time now, Actions& out) {
  const bool helps = !dead.ready && remedy_for(failure.cause).lacks_memory && !standby_is_warm();
  if (!helps || !rungs_[dead.rung].can_be_smaller || smaller_[dead.rung]) return false;
  smaller_[dead.rung] = true;
  out.push_back({.kind = Kind::make_smaller, .rung = dead.rung, .failure = failure});
  spawn(dead.rung, Role::primary, now, out);
  return true;
}

/// A standby, a candidate or a retiring server has died: the host need not notice.
void LifeCycle::lost_spare(const Server& dead, const Failure& failure, Time now, Actions& out) {
  quarantine(dead, failure, out);
  out.push_back({.kind = Kind::take_back, .generation = dead.generation});
  if (dead.role == Role::standby) {
    if (const auto delay = standby_restarts_.take(now)) {
      out.push_back({.kind = Kind::arm, .alarm = Alarm::standby, .delay = *delay});
    }
  } else if (dead.role == Role::candidate) {
    cool_down_ = std::min(cool_down_ * 2, policy_.recovery.longest_cool_down);
    arrange_spares(now, out);
  }
}

void LifeCycle::quarantine(const Server& dead, const Failure& failure, Actions& out) {
  auto& rung = rungs_[dead.rung];
  if (!rung.on_gpu || !remedy_for(failure.cause).quarantine_device) return;
  rung.quarantined = true;
  out.push_back({.kind = Kind::quarantine, .rung = dead.rung, .failure = failure});
}

/// The primary has died. Where do its requests go on?
void LifeCycle::recover(const Server& dead, const Failure& failure, Time now, Actions& out) {
  if (dead.served && now - dead.ready_at >= proving_time) {
    restarts_.clear();
    causes_.clear();
    retries_on_rung_ = 0;
  }
  if (causes_.size() < max_causes) causes_.push_back(failure);
  last_failure_ = failure;
  quarantine(dead, failure, out);
  if (make_smaller(dead, failure, now, out)) return;
  const auto remedy = remedy_for(failure.cause);
  if (policy_.fallback == Fallback::never || remedy.no_rung_helps) return fail(failure, out);

  const auto next = next_rung(dead.rung);
  const bool same_helps = !remedy.never_the_same && !rungs_[dead.rung].quarantined;
  if (same_helps && ever_served_) {
    if (retries_on_rung_ < policy_.same_rung_retries) {
      ++retries_on_rung_;
      return replace(dead.rung, dead, now, out);
    }
    if (!next) return replace(dead.rung, dead, now, out);
  }
  if (!next || !may_fall_back()) return fail(failure, out);
  retries_on_rung_ = 0;
  replace(*next, dead, now, out);
}

/// Starts, or finds, the next primary.
void LifeCycle::replace(std::size_t rung, const Server& dead, Time now, Actions& out) {
  out.push_back({.kind = Kind::take_back, .generation = dead.generation});
  if (ever_served_) state_ = State::recovering;
  if (!left_rung_) left_rung_ = dead.rung;
  for (const auto spare : {Role::standby, Role::candidate}) {
    auto* server = find(spare);
    if (!server || server->rung != rung) continue;
    if (server->ready) return take_over(*server, now, out);
    server->role = Role::primary;
    return;
  }
  if (!ever_served_) return spawn(rung, Role::primary, now, out);  // a load tries each rung once
  const auto delay = restarts_.take(now);
  if (!delay) {
    return fail({.code = causes_.back().code,
                 .message = "llama-server fails again and again, and has used up its restarts; "
                            "TextModel::reload() starts anew. The last failure: " +
                            causes_.back().message,
                 .phase = causes_.back().phase,
                 .cause = causes_.back().cause},
                out);
  }
  if (rung == dead.rung || delay->count() > 0) {
    out.push_back({.kind = Kind::tell_restarting, .rung = rung, .delay = *delay});
  }
  if (delay->count() == 0) return spawn(rung, Role::primary, now, out);
  pending_rung_ = rung;
  out.push_back({.kind = Kind::arm, .alarm = Alarm::restart, .delay = *delay});
}

void LifeCycle::fail(Failure failure, Actions& out) {
  if (causes_.size() > 1) failure.causes = causes_;
  state_ = State::failed;
  last_failure_ = failure;
  out.push_back({.kind = Kind::drop_all, .failure = failure});
  stop_all(out);
  out.push_back({.kind = Kind::answer_load, .failure = failure});
  out.push_back({.kind = Kind::tell_failed, .failure = std::move(failure)});
}

Failure LifeCycle::refusal() const {
  if (state_ == State::closed || state_ == State::closing) return closed_failure();
  Failure failure{.code = errc::not_ready,
                  .message = "the model has failed; TextModel::reload() starts it again"};
  if (last_failure_) {
    failure.message += ": " + last_failure_->message;
    failure.causes.push_back(*last_failure_);
  }
  return failure;
}

ModelState LifeCycle::as_model_state() const noexcept {
  switch (state_) {
    case State::idle:
    case State::loading:
    case State::reloading: return ModelState::loading;
    case State::serving: return ModelState::ready;
    case State::recovering: return ModelState::recovering;
    case State::abandoning:
    case State::failed: return ModelState::failed;
    case State::closing: return ModelState::closing;
    case State::closed: return ModelState::closed;
  }
  return ModelState::failed;
}

}  // namespace llamavisor::supervisor
