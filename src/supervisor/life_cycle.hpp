/// \file
/// The life of a supervised model, with its ladder of rungs. A sans-IO state machine: events come
/// in with the time, actions go out; no socket, no clock, no thread.
#pragma once

#include <llamavisor/error.hpp>
#include <llamavisor/text_model.hpp>

#include "supervisor/policy.hpp"
#include "supervisor/restart_budget.hpp"

#include <chrono>
#include <cstddef>
#include <optional>
#include <vector>

namespace llamavisor::supervisor {

/// Timers of a model. Arming one again moves it.
enum class Alarm { restart, promotion, standby };

/// What the life cycle wants done, in order.
struct Action {
  enum class Kind {
    begin_load,    ///< all rungs are as large as they were asked to be; files are looked at anew
    make_smaller,  ///< loads of `rung` from now on, because of `failure`
    spawn,         ///< a new server, `generation`, on `rung`
    stop,          ///< `generation`: its `went_down` follows
    serve,         ///< new and waiting requests go to `generation`
    take_back,     ///< requests that ran on `generation` wait for another
    drain,         ///< say `drained` when nothing runs on `generation` any more
    drop_running,  ///< requests that run end with `failure`
    drop_all,      ///< those that wait as well
    arm,           ///< `alarm` after `delay`
    disarm_all,    ///< no alarm comes any more
    quarantine,    ///< the device of `rung`, because of `failure`
    answer_load,   ///< all callers of load and reload: well, or with `failure`
    answer_close,  ///< all callers of close
    tell_ready,
    tell_crashed,
    tell_restarting,
    tell_waiting,  ///< for the memory of the device of `rung`
    tell_fell_back,
    tell_promoted,
    tell_stopped,
    tell_failed  ///< events for the host
  };
  Kind kind;
  int generation = 0;
  std::size_t rung = 0;
  std::size_t from_rung = 0;  ///< of `tell_fell_back` and `tell_promoted`
  std::optional<Failure> failure{};
  Alarm alarm = Alarm::restart;
  std::chrono::milliseconds delay{0};
};

using Actions = std::vector<Action>;

/// Desired and actual state are kept apart: `state_` is what the host wants and gets, `servers_`
/// what there really is.
///
/// | state      | load/reload | abandon load | primary ready | primary down         | close   |
/// |------------|-------------|--------------|---------------|----------------------|---------|
/// | idle       | loading     | -            | x             | x                    | closed  |
/// | loading    | join        | abandoning   | serving       | loading¹, failed     | closing |
/// | serving    | reloading   | -            | x             | recovering, failed²  | closing |
/// | recovering | join        | -            | serving       | recovering, failed²  | closing |
/// | reloading  | join        | abandoning   | -             | loading³             | closing |
/// | abandoning | reloading   | -            | -             | failed³              | closing |
/// | failed     | loading     | -            | -             | -                    | closed³ |
/// | closing    | refuse      | -            | -             | closed³              | join    |
/// | closed     | refuse      | -            | x             | x                    | answer  |
///
/// ¹ on the next rung, where the policy lets a load fall back; after a lack of memory first on the
/// same one: later, where the memory may come back, then smaller, where the caller allows it. ²
/// `failed` where no rung helps, the policy forbids it, or the budget is spent. ³ once no server is
/// left. "-" is ignored: it comes too late to matter. "x" cannot happen.
///
/// Beside the primary there may be a *standby* (a warm server of the last rung), a *candidate* (a
/// better rung on trial) and *retiring* ones (they finish what runs on them). None of these gets
/// new requests; the death of one changes nothing for the host.
class LifeCycle {
 public:
  using Time = std::chrono::steady_clock::time_point;
  enum class State {
    idle,
    loading,
    serving,
    recovering,
    reloading,
    abandoning,
    failed,
    closing,
    closed
  };

  LifeCycle(std::vector<Rung> rungs, Policy policy);

  Actions load(Time now);

  /// Whether the loads of a rung can be made smaller: the model's file has a say in it.
  void set_can_be_smaller(std::size_t rung, bool can) { rungs_[rung].can_be_smaller = can; }

  Actions abandon_load(Time now);
  Actions close(Time now);

  Actions became_ready(int generation, Time now);

  /// Without a failure it ended because we stopped it. `departure`: when another server of this
  /// process last left its device.
  Actions went_down(int generation, std::optional<Failure> failure, Time now,
                    std::optional<Time> departure = {});

  /// A request got a token from it: part of what clears the restart budget.
  void served(int generation);

  /// Nothing runs any more on one that is to be drained.
  Actions drained(int generation);

  Actions alarm(Alarm alarm, Time now);

  State state() const noexcept { return state_; }
  ModelState as_model_state() const noexcept;

  /// Counts the server processes, from 1; 0 before the first.
  int generations() const noexcept { return generations_; }

  /// That requests go to; 0 when there is none.
  int serving_generation() const noexcept;
  std::size_t serving_rung() const noexcept { return serving_rung_; }

  /// Why requests are refused in `failed` and `closed`.
  Failure refusal() const;

  // For the model checker.
  enum class Role { primary, standby, candidate, retiring };
  struct Server {
    int generation = 0;
    std::size_t rung = 0;
    Role role = Role::primary;
    bool ready = false;
    bool stopping = false;
    bool served = false;
    Time spawned_at{}, ready_at{};
  };
  const std::vector<Server>& servers() const noexcept { return servers_; }

 private:
  Server* find(int generation);
  Server* find(Role role);
  std::optional<std::size_t> best_rung(std::size_t from, std::size_t end) const;
  std::optional<std::size_t> next_rung(std::size_t rung) const;
  bool may_fall_back() const;
  bool wants_running() const noexcept;

  void start_fresh(Time now, Actions& out);
  void spawn(std::size_t rung, Role role, Time now, Actions& out);
  void stop_all(Actions& out);
  void settle(Time now, Actions& out);
  bool await_memory(const Server& dead, const Failure& failure, Time now,
                    std::optional<Time> departure, Actions& out);
  bool make_smaller(const Server& dead, const Failure& failure, Time now, Actions& out);
  bool standby_is_warm();
  void recover(const Server& dead, const Failure& failure, Time now, Actions& out);
  void replace(std::size_t rung, const Server& dead, Time now, Actions& out);
  void take_over(Server& server, Time now, Actions& out);
  void arrange_spares(Time now, Actions& out);
  void lost_spare(const Server& dead, const Failure& failure, Time now, Actions& out);
  void quarantine(const Server& dead, const Failure& failure, Actions& out);
  void fail(Failure failure, Actions& out);

  std::vector<Rung> rungs_;
  std::vector<bool> smaller_;  ///< by rung: its loads have been made so
  Policy policy_;
  State state_ = State::idle;
  std::vector<Server> servers_;
  int generations_ = 0;
  std::size_t serving_rung_ = 0;          ///< that served last
  std::optional<std::size_t> left_rung_;  ///< since the last `tell_fell_back` or `tell_promoted`
  std::size_t pending_rung_ = 0;          ///< of the restart alarm
  bool ever_served_ = false;              ///< since the last load
  int retries_on_rung_ = 0;
  RestartBudget restarts_, standby_restarts_;
  std::chrono::milliseconds cool_down_;
  std::vector<Failure> causes_;  ///< since the last proved generation, oldest first
  std::optional<Failure> last_failure_;
};

}  // namespace llamavisor::supervisor
