/// \file
/// One model's servers and requests: the interpreter of the life cycle.
#pragma once

#include <llamavisor/load_options.hpp>
#include <llamavisor/text_model.hpp>

#include "runtime/timer.hpp"
#include "server/incarnation.hpp"
#include "supervisor/job.hpp"
#include "supervisor/job_queue.hpp"
#include "supervisor/life_cycle.hpp"
#include "supervisor/private_folder.hpp"

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace llamavisor::supervisor {

struct Settings {
  server::ServerSpec spec{};
  Limits limits{};
  std::filesystem::path runtime_dir{};
  int max_waiting = 1024;
  EventHandler on_event{};
};

/// What a host may ask about, at any time.
struct Status {
  ModelState state = ModelState::loading;
  int generation = 0;
  std::string device{};
  std::string engine{};
  int engine_build = 0;
  int slots = 0;
  int context_length = 0;
  std::optional<server::OffloadedLayers> layers{};
};

/// Owns a model's server process and its requests. All members on the runtime thread, except
/// `status()`. It keeps itself alive from `load` until its server is gone.
class Supervisor : public std::enable_shared_from_this<Supervisor> {
 public:
  using LoadAnswer = std::function<void(std::optional<Failure>)>;
  using CloseAnswer = std::function<void()>;

  Supervisor(std::shared_ptr<Runtime> runtime, Settings settings);

  /// Load and reload alike: starts a new server.
  void load(LoadAnswer answer);
  void abandon_load();
  void close(CloseAnswer answer);

  /// Runs it when there is room. Refuses with `not_ready`, `closed` or `busy` through `Job::fail`.
  void submit(std::shared_ptr<Job> job);

  /// The job has ended by itself, or was cancelled.
  void finished(Job& job);

  /// The job's connection broke. If the server is gone, its exit follows and says why; if not, the
  /// job fails with `detail`.
  void lost_connection(Job& job, std::string detail);

  std::uint64_t server_memory() const;
  const std::shared_ptr<Runtime>& runtime() const noexcept { return runtime_; }
  const Limits& limits() const noexcept { return settings_.limits; }

  Status status() const;  ///< any thread

 private:
  void perform(Actions actions);
  void perform(Action action);
  void spawn();
  void dispatch();
  static void drop(std::vector<std::shared_ptr<Job>> jobs, const Failure& failure);
  void came_down(int generation, server::Down down);
  void became_ready();
  Phase serving_phase() const;
  void publish_status();
  void announce(Event event);
  void report_progress(const server::LoadLog::Progress& progress);
  void report_layers();

  std::shared_ptr<Runtime> runtime_;
  Settings settings_;
  LifeCycle life_;
  JobQueue jobs_;
  PrivateFolder folder_;
  std::shared_ptr<server::Incarnation> server_;
  RunningServer running_;
  std::shared_ptr<Supervisor> self_;  // while a server lives
  std::vector<LoadAnswer> load_answers_;
  std::vector<CloseAnswer> close_answers_;

  mutable std::mutex status_mutex_;
  Status status_;
};

}  // namespace llamavisor::supervisor
