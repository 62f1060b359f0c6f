#include "supervisor/supervisor.hpp"

#include "supervisor/random_text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace llamavisor::supervisor {

namespace {

/// How long the exit of a server may follow the break of its connections.
constexpr std::chrono::milliseconds exit_follows{1000};

}  // namespace

Supervisor::Supervisor(std::shared_ptr<Runtime> runtime, Settings settings)
    : runtime_(std::move(runtime)),
      settings_(std::move(settings)),
      jobs_(static_cast<std::size_t>(settings_.max_waiting)) {
  publish_status();
}

void Supervisor::load(LoadAnswer answer) {
  load_answers_.push_back(std::move(answer));
  perform(life_.load());
}

void Supervisor::abandon_load() {
  perform(life_.abandon_load());
}

void Supervisor::close(CloseAnswer answer) {
  close_answers_.push_back(std::move(answer));
  perform(life_.close());
}

void Supervisor::submit(std::shared_ptr<Job> job) {
  const auto state = life_.as_model_state();
  if (state != ModelState::loading && state != ModelState::ready) return job->fail(life_.refusal());
  if (!jobs_.push(job)) {
    return job->fail({.code = errc::busy,
                      .message = fmt::format("{} requests wait already: wait for some, or raise "
                                             "LoadOptions::max_waiting",
                                             settings_.max_waiting)});
  }
  dispatch();
}

void Supervisor::finished(Job& job) {
  jobs_.erase(job);
  dispatch();
}

void Supervisor::lost_connection(Job& job, std::string detail) {
  // Both a death and a broken connection look like this; the exit, if there is one, is only
  // milliseconds behind, and it knows the reason.
  auto timer = std::make_shared<Timer>(*runtime_);
  timer->arm(exit_follows, [weak = weak_from_this(), timer, lost = &job,
                            generation = life_.generation(), detail = std::move(detail)] {
    const auto self = weak.lock();
    if (!self || self->life_.generation() != generation) return;
    const auto& running = self->jobs_.running();
    const auto found = std::find_if(running.begin(), running.end(),
                                    [&](const auto& entry) { return entry.get() == lost; });
    if (found == running.end()) return;
    const auto job = *found;
    self->jobs_.erase(*job);
    job->fail({.code = errc::server_error,
               .message = fmt::format("the connection to llama-server broke in the middle of an "
                                      "answer ({}), though the server lives",
                                      detail),
               .phase = job->phase()});
    self->dispatch();
  });
}

void Supervisor::perform(Actions actions) {
  for (auto& action : actions)
    perform(std::move(action));
  publish_status();
}

void Supervisor::perform(Action action) {
  switch (action.kind) {
    case Action::Kind::spawn:
      return spawn();
    case Action::Kind::stop:
      return server_->stop();
    case Action::Kind::serve:
      return became_ready();
    case Action::Kind::drop_running:
      return drop(jobs_.drain_running(), *action.failure);
    case Action::Kind::drop_all:
      return drop(jobs_.drain(), *action.failure);
    case Action::Kind::answer_load:
      for (auto& answer : std::exchange(load_answers_, {}))
        answer(action.failure);
      return;
    case Action::Kind::answer_close:
      folder_ = {};
      for (auto& answer : std::exchange(close_answers_, {}))
        answer();
      return;
  }
}

void Supervisor::spawn() {
  const int generation = life_.generation();
  server::Identity identity{.key = random_text(), .alias = random_text()};
  try {
    if (!folder_) folder_ = PrivateFolder::make(settings_.runtime_dir);
    // A new name for each generation: a stale socket makes the next bind fail.
    auto path = (folder_.path() / fmt::format("{}.sock", generation)).string();
    if (path.size() <= server::max_unix_path) identity.unix_path = std::move(path);
  } catch (const Error& error) {
    runtime_->post([self = shared_from_this(), failure = error.failure()] {
      self->perform(self->life_.went_down(failure));
    });
    return;
  }
  self_ = shared_from_this();
  const auto weak = weak_from_this();
  server_ =
      server::Incarnation::start(runtime_, settings_.spec, std::move(identity), settings_.limits,
                                 {.on_progress =
                                      [weak](const server::LoadLog::Progress& progress) {
                                        if (const auto self = weak.lock())
                                          self->report_progress(progress);
                                      },
                                  .on_ready =
                                      [weak] {
                                        if (const auto self = weak.lock())
                                          self->perform(self->life_.became_ready());
                                      },
                                  .serving_phase =
                                      [weak] {
                                        const auto self = weak.lock();
                                        return self ? self->serving_phase() : Phase::idle;
                                      },
                                  .on_down =
                                      [weak, generation](server::Down down) {
                                        if (const auto self = weak.lock())
                                          self->came_down(generation, std::move(down));
                                      }});
  if (!server_->spawned()) return;  // on_down follows, and says why
  announce({.kind = Event::Kind::started,
            .message = fmt::format("llama-server (build {}) started on {}",
                                   settings_.spec.engine.build, settings_.spec.device)});
}

void Supervisor::became_ready() {
  const auto& facts = server_->facts();
  running_ = {.endpoint = server_->endpoint(),
              .key = server_->key(),
              .generation = life_.generation(),
              .device = settings_.spec.device,
              .engine_build = settings_.spec.engine.build,
              .context_length = facts.context_length(),
              .bos_text = facts.bos_text()};
  report_layers();
  announce(
      {.kind = Event::Kind::ready, .message = fmt::format("ready on {}", settings_.spec.device)});
  publish_status();
  dispatch();
}

void Supervisor::came_down(int generation, server::Down down) {
  if (generation != life_.generation()) return;
  const auto keep_alive = std::exchange(self_, nullptr);
  server_.reset();
  if (down.unreaped) {
    announce(
        {.kind = Event::Kind::unreaped, .message = down.failure.message, .failure = down.failure});
  }
  std::optional<Failure> failure;
  if (down.asked) {
    announce({.kind = Event::Kind::stopped, .message = "llama-server has stopped"});
  } else {
    failure = std::move(down.failure);
    announce({.kind = Event::Kind::crashed, .message = failure->message, .failure = failure});
  }
  perform(life_.went_down(std::move(failure)));
  if (life_.state() == LifeCycle::State::failed) {
    const auto refusal = life_.refusal();
    announce({.kind = Event::Kind::failed, .message = refusal.message, .failure = refusal});
  }
}

void Supervisor::dispatch() {
  if (life_.state() != LifeCycle::State::ready) return;
  const int slots = std::max(1, server_->facts().slots());
  while (const auto job = jobs_.take(slots))
    job->run(running_);
}

void Supervisor::drop(std::vector<std::shared_ptr<Job>> jobs, const Failure& failure) {
  for (const auto& job : jobs) {
    auto own = failure;
    if (own.code != errc::closed) own.phase = job->phase();
    job->lose();
    job->fail(std::move(own));
  }
}

/// A server that dies with requests in flight died in their phase.
Phase Supervisor::serving_phase() const {
  auto phase = Phase::idle;
  for (const auto& job : jobs_.running())
    phase = std::max(phase, job->phase());
  return phase;
}

void Supervisor::report_progress(const server::LoadLog::Progress& progress) {
  if (life_.state() != LifeCycle::State::loading) return;
  announce({.kind = Event::Kind::loading,
            .message = std::string(server::name(progress.step)),
            .fraction = progress.fraction});
}

void Supervisor::report_layers() {
  const auto& layers = server_->log().layers();
  if (!settings_.spec.on_gpu() || !layers) return;
  const int asked = settings_.spec.gpu_layers.value_or(layers->total);
  const int wanted = asked < 0 ? layers->total : std::min(asked, layers->total);
  if (layers->on_gpu >= wanted) return;
  announce({.kind = Event::Kind::warning,
            .message = fmt::format("only {} of {} layers are on {}: the rest runs on the CPU",
                                   layers->on_gpu, layers->total, settings_.spec.device)});
}

void Supervisor::announce(Event event) {
  if (!settings_.on_event) return;
  event.generation = life_.generation();
  event.device = settings_.spec.device;
  event.time = std::chrono::system_clock::now();
  runtime_->post_event(
      [handler = settings_.on_event, event = std::move(event)] { handler(event); });
}

void Supervisor::publish_status() {
  Status status{.state = life_.as_model_state(),
                .generation = life_.generation(),
                .device = settings_.spec.device,
                .engine = settings_.spec.engine.flavour,
                .engine_build = settings_.spec.engine.build,
                .slots = settings_.spec.parallel,
                .context_length = running_.context_length};
  if (server_) status.layers = server_->log().layers();
  const std::lock_guard lock(status_mutex_);
  status_ = std::move(status);
}

Status Supervisor::status() const {
  const std::lock_guard lock(status_mutex_);
  return status_;
}

std::uint64_t Supervisor::server_memory() const {
  return server_ ? server_->memory() : 0;
}

}  // namespace llamavisor::supervisor
