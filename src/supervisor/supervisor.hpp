/// \file
/// One model's servers and requests: the interpreter of the life cycle.
#pragma once

#include <llamavisor/load_options.hpp>
#include <llamavisor/text_model.hpp>

#include "runtime/timer.hpp"
#include "supervisor/job_queue.hpp"
#include "supervisor/launch_checks.hpp"
#include "supervisor/life_cycle.hpp"
#include "supervisor/model_file.hpp"
#include "supervisor/private_folder.hpp"
#include "supervisor/watched_server.hpp"

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace llamavisor::supervisor {

struct Settings {
  std::vector<RungSpec> rungs{};  ///< the ladder, best first
  std::shared_ptr<const ModelFile> file{};
  Policy policy{};
  OutOfMemory when_out_of_memory = OutOfMemory::next_device;
  Limits limits{};
  std::filesystem::path runtime_dir{};
  int max_waiting = 1024;
  EventHandler on_event{};
  std::vector<Event> notices{};  ///< told at the load
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
  std::shared_ptr<const GgufInfo> file{};  ///< what the model's file said at the last (re)load
};

/// Owns a model's server processes and its requests. All members on the runtime thread, except
/// `status()`. It keeps itself alive while it has a server.
class Supervisor : public std::enable_shared_from_this<Supervisor> {
 public:
  using LoadAnswer = std::function<void(std::optional<Failure>)>;
  using CloseAnswer = std::function<void()>;

  Supervisor(std::shared_ptr<Runtime> runtime, Settings settings);

  /// Load and reload alike: starts a new server. `file`: the model's, read anew (null: as in the
  /// settings); one that cannot be read is the load's failure.
  void load(LoadAnswer answer, std::shared_ptr<const ModelFile> file = {});
  void abandon_load();
  void close(CloseAnswer answer);

  /// Runs it when there is room. Refuses with `not_ready`, `closed` or `busy` through `Job::fail`.
  void submit(std::shared_ptr<Job> job);

  // What a running job reports.

  /// It has ended by itself, or was cancelled.
  void finished(Job& job);
  /// What its server owes it has changed.
  void expectation_changed(const Job& job);
  /// A token, or a piece of its prompt.
  void progressed(const Job& job);
  /// Its first token.
  void served(const Job& job);
  /// It does not get an answer that should be quick.
  void unanswered(const Job& job);
  /// The server answered with an error of its own (a 500). If it cannot compute any more, the job
  /// runs again on the next one; if it can, the job fails with this.
  void server_failed(std::shared_ptr<Job> job, const Failure& failure);
  /// The connection broke. A death looks like this, its exit being only milliseconds behind; if
  /// there is none, it is as above.
  void connection_broke(std::shared_ptr<Job> job, Failure failure);

  std::uint64_t server_memory() const;
  const std::shared_ptr<Runtime>& runtime() const noexcept { return runtime_; }
  const Limits& limits() const noexcept { return settings_.limits; }

  Status status() const;  ///< any thread

 private:
  using Server = std::shared_ptr<WatchedServer>;

  void perform(Actions actions);
  void perform(Action action);
  void spawn(int generation, std::size_t rung);
  std::optional<Failure> check_launch(std::size_t rung);
  server::Identity make_identity(int generation);
  server::Incarnation::Handlers handlers(int generation);
  void came_down(int generation, server::Down down);
  static std::optional<LifeCycle::Time> note_departure(const WatchedServer& server,
                                                       const std::optional<Failure>& failure);
  void take_back(int generation);
  void quarantine(std::size_t rung, const Failure& failure);
  void begin_load();
  void make_smaller(std::size_t rung, const Failure& failure);
  void dispatch();
  void drain_retiring();
  void expect(int generation);
  Phase phase_on(int generation) const;
  const server::ServerSpec& spec(std::size_t rung) const { return settings_.rungs[rung].server; }
  Server server_of(const Job& job) const;
  void publish_status();
  void announce(Event event, int generation, std::size_t rung);
  void tell(const Action& action);
  void tell_layers(int generation, std::size_t rung);

  std::shared_ptr<Runtime> runtime_;
  Settings settings_;
  std::shared_ptr<const ModelFile> next_file_;  // from the next load on
  LaunchChecks checks_;
  LifeCycle life_;
  JobQueue jobs_;
  PrivateFolder folder_;
  std::map<int, Server> servers_;  // by generation
  std::vector<int> retiring_;      // to be told when nothing runs there
  std::array<Timer, 3> alarms_;    // by Alarm
  std::shared_ptr<Supervisor> self_;
  std::vector<LoadAnswer> load_answers_;
  std::vector<CloseAnswer> close_answers_;
  std::optional<server::OffloadedLayers> last_layers_;  // of the server that died last
  bool performing_ = false;
  Actions pending_;

  mutable std::mutex status_mutex_;
  Status status_;
};

}  // namespace llamavisor::supervisor
