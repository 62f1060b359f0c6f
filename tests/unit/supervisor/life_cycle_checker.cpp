// A model checker: random events against the life cycle, and what must hold after each of them.
#include "catch.hpp"
#include "supervisor/life_cycle.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

using namespace llamavisor;
using namespace llamavisor::supervisor;

namespace {

using Kind = Action::Kind;

/// The world around one life cycle: servers that live, jobs that run or wait, callers that wait.
class World {
 public:
  explicit World(std::uint32_t seed) : random_(seed), life_(make_rungs(), make_policy()) {}

  void step() {
    switch (pick(10)) {
      case 0: load(); break;
      case 1: act(life_.abandon_load(now_)); break;
      case 2:
        if (pick(6) == 0) close();
        break;
      case 3:
      case 4: server_becomes_ready(); break;
      case 5:
      case 6: server_goes_down(); break;
      case 7: alarm_comes(); break;
      case 8:
        if (accepts_requests()) ++waiting_;
        if (const int generation = life_.serving_generation()) life_.served(generation);
        place_waiting();
        break;
      case 9: request_ends(); break;
    }
    now_ += std::chrono::milliseconds(pick(3000));
    drain();
    check();
  }

  /// Closes, lets every stop succeed, and looks whether anybody is left behind.
  void end() {
    close();
    while (!alive_.empty())
      server_goes_down();
    check();
    require(life_.state() == LifeCycle::State::closed, "closed in the end");
    require(load_callers_ == 0 && close_callers_ == 0, "no caller is stranded");
    require(waiting_ == 0 && running_.empty(), "no request is stranded");
  }

  int waits() const { return waits_; }
  int shrinks() const { return all_shrinks_; }

 private:
  struct Alive {
    std::size_t rung = 0;
    bool stopping = false;
    bool ready = false;
    LifeCycle::Time spawned_at{};
  };

  static void require(bool good, const char* promise) {
    if (good) return;  // a Catch assertion each time would take most of the run
    FAIL(promise);
  }

  int pick(int below) { return static_cast<int>(random_() % static_cast<std::uint32_t>(below)); }

  std::vector<Rung> make_rungs() {
    std::vector<Rung> rungs(static_cast<std::size_t>(1 + pick(3)));
    for (std::size_t rung = 0; rung + 1 < rungs.size(); ++rung) {
      rungs[rung] = {.on_gpu = true, .quarantined = pick(8) == 0};
    }
    quarantined_.clear();
    for (std::size_t rung = 0; rung < rungs.size(); ++rung) {
      rungs[rung].can_be_smaller = pick(3) == 0;
      if (rungs[rung].quarantined) quarantined_.insert(rung);
    }
    rungs_ = rungs;
    return rungs;
  }

  Policy make_policy() {
    Policy policy;
    policy.fallback = static_cast<Fallback>(pick(3));
    policy.device_is_auto = pick(2) == 0;
    policy.same_rung_retries = pick(3);
    policy.standby = pick(2) == 0;
    policy.memory_return = std::chrono::milliseconds(pick(3) * 2500);
    policy.recovery.restarts = pick(6);
    if (pick(3) == 0) policy.recovery.cool_down = {};
    never_ = policy.fallback == Fallback::never;
    memory_return_ = policy.memory_return;
    return policy;
  }

  bool accepts_requests() const {
    const auto state = life_.as_model_state();
    return state == ModelState::loading || state == ModelState::ready ||
           state == ModelState::recovering;
  }

  void load() {
    ++load_callers_;
    const auto before = life_.state();
    const int spawned = spawns_;
    act(life_.load(now_));
    if (before == LifeCycle::State::closed || before == LifeCycle::State::closing) {
      require(spawns_ == spawned, "nothing comes back to life after close");
    }
  }

  void close() {
    ++close_callers_;
    act(life_.close(now_));
  }

  void server_becomes_ready() {
    for (auto& [generation, server] : alive_) {
      if (server.ready || pick(2) == 0) continue;  // also one that is being stopped: a race
      server.ready = true;
      return act(life_.became_ready(generation, now_));
    }
  }

  void server_goes_down() {
    if (alive_.empty()) return;
    auto victim = alive_.begin();
    std::advance(victim, pick(static_cast<int>(alive_.size())));
    const auto [generation, server] = *victim;
    alive_.erase(victim);
    if (server.stopping) return act(life_.went_down(generation, std::nullopt, now_));
    auto cause = static_cast<Cause>(pick(static_cast<int>(Cause::hung) + 1));
    if (pick(3) == 0) cause = Cause::out_of_memory;
    std::optional<LifeCycle::Time> departure;
    if (pick(2) == 0) departure = now_ - std::chrono::milliseconds(pick(8000));
    const bool last = remedy_for(cause).no_rung_helps;
    const int spawned = spawns_;
    const bool was_primary = is_primary(generation);
    const auto actions = life_.went_down(
        generation, Failure{.code = errc::server_died, .message = "x", .cause = cause}, now_,
        departure);
    act(actions);
    const bool passing = cause == Cause::out_of_memory && !server.ready && departure &&
                         server.spawned_at < *departure + memory_return_;
    check_wait(actions, server.rung, passing);
    check_smaller(actions, server.rung,
                  cause == Cause::out_of_memory && !server.ready && was_primary);
    if (was_primary && (last || never_) && spawns_ - spawned != shrinks(actions)) {
      FAIL("a permanent error, and policy never, spawn nothing but a smaller load");
    }
  }

  /// Waiting for memory: only where it may come back, for the same rung, no longer than the limit,
  /// and nothing else comes of that death.
  void check_wait(const Actions& actions, std::size_t rung, bool passing) {
    const auto waits = std::find_if(actions.begin(), actions.end(), [](const Action& action) {
      return action.kind == Kind::tell_waiting;
    });
    if (waits == actions.end()) return;
    ++waits_;
    require(passing, "memory is waited for only where a server has just left the device");
    require(rungs_[rung].on_gpu && waits->rung == rung, "memory is waited for on the same GPU");
    require(waits->delay <= memory_return_, "memory is not waited for longer than its limit");
    require(actions.size() == 3 && actions.back().kind == Kind::arm, "a wait is no crash");
  }

  static int shrinks(const Actions& actions) {
    return static_cast<int>(std::count_if(actions.begin(), actions.end(), [](const Action& action) {
      return action.kind == Kind::make_smaller;
    }));
  }

  /// A smaller load: only after a load that had too little memory, on the same rung, at once.
  void check_smaller(const Actions& actions, std::size_t rung, bool lacked_memory) const {
    for (std::size_t at = 0; at < actions.size(); ++at) {
      if (actions[at].kind != Kind::make_smaller) continue;
      require(lacked_memory, "a load is made smaller only where it lacked memory");
      require(at + 1 < actions.size() && actions[at + 1].kind == Kind::spawn,
              "a smaller load is started at once");
      require(actions[at].rung == rung && actions[at + 1].rung == rung,
              "a smaller load is on the same rung");
    }
  }

  bool is_primary(int generation) const {
    for (const auto& server : life_.servers()) {
      if (server.generation == generation) return server.role == LifeCycle::Role::primary;
    }
    return false;
  }

  void alarm_comes() {
    if (armed_.empty()) return;
    auto which = armed_.begin();
    std::advance(which, pick(static_cast<int>(armed_.size())));
    const auto alarm = *which;
    armed_.erase(which);
    act(life_.alarm(alarm, now_));
  }

  void request_ends() {
    if (running_.empty()) return;
    auto which = running_.begin();
    std::advance(which, pick(static_cast<int>(running_.size())));
    running_.erase(which);
  }

  void place_waiting() {
    const int generation = life_.serving_generation();
    if (generation == 0) return;
    for (; waiting_ > 0; --waiting_)
      running_.insert(generation);
  }

  void drain() {
    for (const int generation : std::set<int>(draining_)) {
      if (running_.count(generation) > 0) continue;
      draining_.erase(generation);
      act(life_.drained(generation));
    }
  }

  void act(const Actions& actions) {
    for (const auto& action : actions)
      perform(action);
    place_waiting();
  }

  void perform(const Action& action) {
    switch (action.kind) {
      case Kind::begin_load: smaller_.clear(); break;
      case Kind::make_smaller:
        require(rungs_[action.rung].can_be_smaller, "a load is made smaller where that is allowed");
        require(smaller_.insert(action.rung).second, "each rung is made smaller once a load");
        ++all_shrinks_;
        break;
      case Kind::spawn:
        require(action.generation == ++spawns_, "generations count up one by one");
        require(quarantined_.count(action.rung) == 0, "a quarantined device is never started");
        alive_[action.generation] = {.rung = action.rung, .spawned_at = now_};
        break;
      case Kind::stop:
        require(alive_.count(action.generation) == 1, "only a living server is stopped");
        require(!alive_[action.generation].stopping, "a server is stopped once");
        alive_[action.generation].stopping = true;
        break;
      case Kind::serve:
        require(action.generation == life_.serving_generation(), "requests go to who serves");
        break;
      case Kind::take_back:
        waiting_ += static_cast<int>(running_.count(action.generation));
        running_.erase(action.generation);
        break;
      case Kind::drain: draining_.insert(action.generation); break;
      case Kind::drop_running: running_.clear(); break;
      case Kind::drop_all:
        running_.clear();
        waiting_ = 0;
        break;
      case Kind::arm: armed_.insert(action.alarm); break;
      case Kind::disarm_all: armed_.clear(); break;
      case Kind::quarantine: quarantined_.insert(action.rung); break;
      case Kind::answer_load: load_callers_ = 0; break;
      case Kind::answer_close: close_callers_ = 0; break;
      default: break;
    }
  }

  void check() const {
    int primaries = 0;
    for (const auto& server : life_.servers()) {
      require(alive_.count(server.generation) == 1, "the books hold living servers only");
      if (server.role == LifeCycle::Role::primary && !server.stopping) ++primaries;
    }
    require(life_.servers().size() == alive_.size(), "every living server is in the books");
    require(primaries <= 1, "at most one server gets new requests");
    for (const int generation : running_) {
      require(alive_.count(generation) == 1, "no request runs on a dead server");
    }
    const auto state = life_.state();
    const bool at_rest = state == LifeCycle::State::idle || state == LifeCycle::State::failed ||
                         state == LifeCycle::State::closed;
    require(at_rest || !alive_.empty() || !armed_.empty(), "something is always under way");
    if (at_rest) {
      require(load_callers_ == 0, "at rest, no caller of load waits");
      require(waiting_ == 0 || state == LifeCycle::State::idle, "at rest, no request waits");
    }
    if (state == LifeCycle::State::failed || state == LifeCycle::State::closed) {
      require(running_.empty(), "nothing runs on a model that has failed");
    }
    require((state == LifeCycle::State::serving) == (life_.serving_generation() != 0),
            "serving means that somebody serves");
  }

  std::mt19937 random_;
  std::vector<Rung> rungs_;
  std::set<std::size_t> quarantined_;
  bool never_ = false;
  std::chrono::milliseconds memory_return_{0};
  LifeCycle life_;
  LifeCycle::Time now_{};
  std::map<int, Alive> alive_;
  std::multiset<int> running_;  // generation of each running request
  std::set<int> draining_;
  std::set<Alarm> armed_;
  int waiting_ = 0;
  int load_callers_ = 0;
  int close_callers_ = 0;
  int spawns_ = 0;
  std::set<std::size_t> smaller_;
  int waits_ = 0;
  int all_shrinks_ = 0;
};

}  // namespace

TEST_CASE("whatever happens, nobody is stranded and nothing comes back to life",
          "[supervisor][checker]") {
  const bool long_run = std::getenv("LLAMAVISOR_LONG") != nullptr;
  const std::uint32_t worlds = long_run ? 1'000'000 : 60'000;
  int waits = 0, shrinks = 0;
  for (std::uint32_t seed = 0; seed < worlds; ++seed) {
    INFO("seed " << seed);
    World world(seed);
    for (int step = 0; step < 40; ++step)
      world.step();
    world.end();
    waits += world.waits();
    shrinks += world.shrinks();
  }
  CHECK(waits > 0);
  CHECK(shrinks > 0);
  SUCCEED(worlds << " worlds of 40 events");
}
