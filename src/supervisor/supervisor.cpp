#include "supervisor/supervisor.hpp"

#include "device/departures.hpp"
#include "device/device_name.hpp"
#include "device/quarantine.hpp"
#include "supervisor/random_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace llamavisor::supervisor {

namespace {

using Clock = std::chrono::steady_clock;

/// How far the exit of a server may lag behind the break of its connections.
constexpr std::chrono::milliseconds exit_follows{1000};

std::vector<Rung> ladder_of(const Settings& settings) {
  std::vector<Rung> rungs;
  for (const auto& spec : settings.rungs) {
    rungs.push_back({.on_gpu = spec.server.on_gpu(), .quarantined = spec.quarantined});
  }
  return rungs;
}

}  // namespace

Supervisor::Supervisor(std::shared_ptr<Runtime> runtime, Settings settings)
    : runtime_(std::move(runtime)),
      settings_(std::move(settings)),
      next_file_(settings_.file),
      life_(ladder_of(settings_), settings_.policy),
      jobs_(static_cast<std::size_t>(settings_.max_waiting)),
      alarms_{Timer(*runtime_), Timer(*runtime_), Timer(*runtime_)} {
  publish_status();
}

void Supervisor::load(LoadAnswer answer, std::shared_ptr<const ModelFile> file) {
  if (file) next_file_ = std::move(file);
  load_answers_.push_back(std::move(answer));
  for (auto& notice : std::exchange(settings_.notices, {}))
    announce(std::move(notice), 0, 0);
  perform(life_.load(Clock::now()));
}

void Supervisor::abandon_load() {
  perform(life_.abandon_load(Clock::now()));
}

void Supervisor::close(CloseAnswer answer) {
  close_answers_.push_back(std::move(answer));
  perform(life_.close(Clock::now()));
}

void Supervisor::submit(std::shared_ptr<Job> job) {
  const auto state = life_.as_model_state();
  const bool open =
      state == ModelState::loading || state == ModelState::ready || state == ModelState::recovering;
  if (!open) return job->fail(life_.refusal());
  if (!jobs_.push(job)) {
    return job->fail({.code = errc::busy,
                      .message = fmt::format("{} requests wait already: wait for some, or raise "
                                             "LoadOptions::max_waiting",
                                             settings_.max_waiting)});
  }
  dispatch();
}

Supervisor::Server Supervisor::server_of(const Job& job) const {
  const auto found = servers_.find(jobs_.generation_of(job));
  return found == servers_.end() ? nullptr : found->second;
}

void Supervisor::finished(Job& job) {
  const int generation = jobs_.generation_of(job);
  jobs_.erase(job);
  expect(generation);
  drain_retiring();
  dispatch();
}

void Supervisor::expectation_changed(const Job& job) {
  expect(jobs_.generation_of(job));
}

void Supervisor::progressed(const Job& job) {
  if (const auto server = server_of(job)) server->progress();
}

void Supervisor::served(const Job& job) {
  life_.served(jobs_.generation_of(job));
  expectation_changed(job);
}

void Supervisor::unanswered(const Job& job) {
  if (const auto server = server_of(job)) server->suspect();
}

void Supervisor::server_failed(std::shared_ptr<Job> job, const Failure& failure) {
  const int generation = jobs_.generation_of(*job);
  const auto server = server_of(*job);
  if (!server) return;  // it is down already, and `take_back` follows
  server->examine(failure, [weak = weak_from_this(), job, generation, failure] {
    const auto self = weak.lock();
    if (!self || self->jobs_.generation_of(*job) != generation) return;
    self->jobs_.erase(*job);
    job->fail(failure);
    self->expect(generation);
    self->drain_retiring();
    self->dispatch();
  });
}

void Supervisor::connection_broke(std::shared_ptr<Job> job, Failure failure) {
  const int generation = jobs_.generation_of(*job);
  const auto timer = std::make_shared<Timer>(*runtime_);
  timer->arm(exit_follows, [weak = weak_from_this(), timer, job = std::move(job), generation,
                            failure = std::move(failure)] {
    const auto self = weak.lock();
    if (self && generation != 0 && self->jobs_.generation_of(*job) == generation) {
      self->server_failed(job, failure);
    }
  });
}

/// Actions may bring forth further ones (a spawn that fails at once): they queue up behind.
void Supervisor::perform(Actions actions) {
  pending_.insert(pending_.end(), std::make_move_iterator(actions.begin()),
                  std::make_move_iterator(actions.end()));
  if (std::exchange(performing_, true)) return;
  while (!pending_.empty()) {
    auto action = std::move(pending_.front());
    pending_.erase(pending_.begin());
    publish_status();  // before a stream or a load ends: the host may look at once
    perform(std::move(action));
  }
  performing_ = false;
  publish_status();
}

void Supervisor::perform(Action action) {
  const auto fail_jobs = [&](const std::vector<std::shared_ptr<Job>>& jobs) {
    for (const auto& job : jobs) {
      auto own = *action.failure;
      if (own.code != errc::closed) own.phase = job->phase();
      job->lose();
      job->fail(std::move(own));
    }
  };
  switch (action.kind) {
    case Action::Kind::begin_load: return begin_load();
    case Action::Kind::make_smaller: return make_smaller(action.rung, *action.failure);
    case Action::Kind::spawn: return spawn(action.generation, action.rung);
    case Action::Kind::stop:
      if (const auto server = servers_.find(action.generation); server != servers_.end()) {
        return server->second->stop();
      }
      // It could not even be spawned; there is nothing to wait for.
      return perform(life_.went_down(action.generation, std::nullopt, Clock::now()));
    case Action::Kind::serve: return dispatch();
    case Action::Kind::take_back: return take_back(action.generation);
    case Action::Kind::drain: retiring_.push_back(action.generation); return drain_retiring();
    case Action::Kind::drop_running: return fail_jobs(jobs_.drain_running());
    case Action::Kind::drop_all: return fail_jobs(jobs_.drain());
    case Action::Kind::arm:
      return alarms_[static_cast<std::size_t>(action.alarm)].arm(
          action.delay,
          [this, alarm = action.alarm] { perform(life_.alarm(alarm, Clock::now())); });
    case Action::Kind::disarm_all:
      for (auto& alarm : alarms_)
        alarm.cancel();
      return;
    case Action::Kind::quarantine: return quarantine(action.rung, *action.failure);
    case Action::Kind::answer_load:
      for (auto& answer : std::exchange(load_answers_, {}))
        answer(action.failure);
      return;
    case Action::Kind::answer_close:
      folder_ = {};
      for (auto& answer : std::exchange(close_answers_, {}))
        answer();
      return;
    default: return tell(action);
  }
}

void Supervisor::begin_load() {
  if (!next_file_->failure) settings_.file = next_file_;
  for (std::size_t index = 0; index < settings_.rungs.size(); ++index) {
    auto& rung = settings_.rungs[index];
    fit_to_file(rung, settings_.file->facts, settings_.file->added_size);
    life_.set_can_be_smaller(index, can_be_smaller(rung, settings_.when_out_of_memory));
  }
  checks_.remember(settings_.rungs, *next_file_);
}

void Supervisor::make_smaller(std::size_t rung, const Failure& failure) {
  const auto what =
      supervisor::make_smaller(settings_.rungs[rung], settings_.when_out_of_memory, last_layers_);
  announce({.kind = Event::Kind::warning,
            .message =
                fmt::format("{} has too little memory: loading again {}", spec(rung).device, what),
            .failure = failure},
           life_.generations(), rung);
}

std::optional<Failure> Supervisor::check_launch(std::size_t index) {
  auto& rung = settings_.rungs[index];
  std::string warning;
  if (auto failure = checks_.check(rung, index, warning)) return failure;
  if (!warning.empty()) {
    announce({.kind = Event::Kind::warning, .message = std::move(warning)}, life_.generations(),
             index);
  }
  return check_memory(rung);
}

server::Identity Supervisor::make_identity(int generation) {
  server::Identity identity{.key = random_text(), .alias = random_text()};
  if (!folder_) folder_ = PrivateFolder::make(settings_.runtime_dir);
  // A new name for each generation: a stale socket makes the next bind fail.
  auto path = (folder_.path() / fmt::format("{}.sock", generation)).string();
  if (path.size() <= server::max_unix_path) identity.unix_path = std::move(path);
  return identity;
}

void Supervisor::spawn(int generation, std::size_t rung) {
  server::Identity identity;
  auto failure = check_launch(rung);
  try {
    if (!failure) identity = make_identity(generation);
  } catch (const Error& error) {
    failure = error.failure();
    failure->cause = Cause::bad_argument;
  }
  if (failure) {
    last_layers_.reset();
    runtime_->post([self = shared_from_this(), generation, failure = std::move(failure)]() mutable {
      self->perform(self->life_.went_down(generation, std::move(failure), Clock::now()));
    });
    return;
  }
  self_ = shared_from_this();
  const auto server = WatchedServer::start(runtime_, spec(rung), std::move(identity),
                                           settings_.limits, generation, handlers(generation));
  servers_[generation] = server;
  if (!server->incarnation().spawned()) return;  // on_down follows, and says why
  announce({.kind = Event::Kind::started,
            .message = fmt::format("llama-server (build {}) started on {}", spec(rung).engine.build,
                                   spec(rung).device)},
           generation, rung);
}

server::Incarnation::Handlers Supervisor::handlers(int generation) {
  const auto weak = weak_from_this();
  return {.on_progress =
              [weak, generation](const server::LoadLog::Progress& progress) {
                const auto self = weak.lock();
                if (!self || self->life_.serving_generation() != 0) return;
                for (const auto& server : self->life_.servers()) {
                  if (server.generation != generation) continue;
                  self->announce({.kind = Event::Kind::loading,
                                  .message = std::string(server::name(progress.step)),
                                  .fraction = progress.fraction},
                                 generation, server.rung);
                }
              },
          .on_ready =
              [weak, generation] {
                const auto self = weak.lock();
                if (self) self->perform(self->life_.became_ready(generation, Clock::now()));
              },
          .serving_phase =
              [weak, generation] {
                const auto self = weak.lock();
                return self ? self->phase_on(generation) : Phase::idle;
              },
          .on_down =
              [weak, generation](server::Down down) {
                if (const auto self = weak.lock()) self->came_down(generation, std::move(down));
              }};
}

void Supervisor::came_down(int generation, server::Down down) {
  const auto found = servers_.find(generation);
  if (found == servers_.end()) return;
  const auto dying = std::move(found->second);  // it lives until this call returns
  servers_.erase(found);
  const auto keep_alive = servers_.empty() ? std::exchange(self_, nullptr) : nullptr;
  std::erase(retiring_, generation);
  if (down.unreaped) {
    announce({.kind = Event::Kind::unreaped,
              .message = down.unreaped->message,
              .failure = *down.unreaped},
             generation, life_.serving_rung());
  }
  std::optional<Failure> failure;
  if (!down.asked) failure = std::move(down.failure);
  const auto departure = note_departure(*dying, failure);
  last_layers_ = dying->incarnation().log().layers();
  perform(life_.went_down(generation, std::move(failure), Clock::now(), departure));
}

/// The last departure from its device before its own, and its own for those who come after it. A
/// load that found too little memory is none: it would explain itself.
std::optional<LifeCycle::Time> Supervisor::note_departure(const WatchedServer& server,
                                                          const std::optional<Failure>& failure) {
  if (!server.spec().on_gpu()) return std::nullopt;
  const auto devices = device::parse_device_name(server.spec().device).each();
  std::optional<LifeCycle::Time> before;
  for (const auto& device : devices)
    before = std::max(before, device::Departures::last(device));
  const auto& process = server.incarnation();
  const bool found_no_memory =
      failure && remedy_for(failure->cause).lacks_memory && !process.ready();
  if (process.spawned() && !found_no_memory) {
    for (const auto& device : devices)
      device::Departures::note(device, Clock::now());
  }
  return before;
}

void Supervisor::take_back(int generation) {
  for (const auto& job : jobs_.take_back(generation))
    job->lose();
  dispatch();
}

void Supervisor::quarantine(std::size_t rung, const Failure& failure) {
  device::Quarantine list;
  std::error_code error;
  // Of several it does not show which one failed.
  for (const auto& device : device::parse_device_name(spec(rung).device).each()) {
    const auto fault = list.add({.device = device,
                                 .engine = spec(rung).engine.flavour,
                                 .build = spec(rung).engine.build,
                                 .cause = std::string(name(failure.cause)),
                                 .message = failure.message});
    if (fault) error = fault;
  }
  const auto note = error ? fmt::format("; for this process only, since {} cannot be written: {}",
                                        list.file().string(), error.message())
                          : std::string{};
  announce({.kind = Event::Kind::quarantined,
            .message = fmt::format("{} with the {} engine is quarantined until the next boot{}",
                                   spec(rung).device, spec(rung).engine.flavour, note),
            .failure = failure},
           life_.generations(), rung);
}

void Supervisor::dispatch() {
  const int generation = life_.serving_generation();
  const auto found = servers_.find(generation);
  if (found == servers_.end()) return;
  const auto running = found->second->running();
  bool any = false;
  while (const auto job = jobs_.take(generation, running.slots)) {
    any = true;
    job->run(running);
  }
  if (any) expect(generation);
}

void Supervisor::drain_retiring() {
  for (const int generation : std::vector<int>(retiring_)) {
    if (jobs_.any_on(generation)) continue;
    std::erase(retiring_, generation);
    perform(life_.drained(generation));
  }
}

/// What all requests on a server expect of it, together.
void Supervisor::expect(int generation) {
  const auto found = servers_.find(generation);
  if (found == servers_.end()) return;
  auto most = Expectation::nothing;
  for (const auto& entry : jobs_.running()) {
    if (entry.generation == generation) most = std::max(most, entry.job->expectation());
  }
  found->second->expect(most);
}

/// A server that dies with requests in flight died in their phase.
Phase Supervisor::phase_on(int generation) const {
  auto phase = Phase::idle;
  for (const auto& entry : jobs_.running()) {
    if (entry.generation == generation) phase = std::max(phase, entry.job->phase());
  }
  return phase;
}

std::uint64_t Supervisor::server_memory() const {
  std::uint64_t bytes = 0;
  for (const auto& [generation, server] : servers_)
    bytes += server->incarnation().memory();
  return bytes;
}

Status Supervisor::status() const {
  const std::lock_guard lock(status_mutex_);
  return status_;
}

void Supervisor::publish_status() {
  const auto& now_serving = spec(life_.serving_rung());
  Status status{.state = life_.as_model_state(),
                .generation = life_.generations(),
                .device = now_serving.device,
                .engine = now_serving.engine.flavour,
                .engine_build = now_serving.engine.build,
                .slots = now_serving.parallel,
                .file = {settings_.file, &settings_.file->facts}};
  const std::lock_guard lock(status_mutex_);
  status.context_length = status_.context_length;
  if (const auto found = servers_.find(life_.serving_generation()); found != servers_.end()) {
    status.context_length = found->second->incarnation().facts().context_length();
    status.layers = found->second->incarnation().log().layers();
  }
  status_ = std::move(status);
}

}  // namespace llamavisor::supervisor
