/// \file
/// One server with its watchdog.
#pragma once

#include "runtime/timer.hpp"
#include "server/incarnation.hpp"
#include "supervisor/job.hpp"
#include "supervisor/loop_probe.hpp"
#include "supervisor/watchdog.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace llamavisor::supervisor {

/// Runs an incarnation, and condemns it when it hangs or cannot compute any more. On the runtime
/// thread only.
class WatchedServer : public std::enable_shared_from_this<WatchedServer> {
 public:
  static std::shared_ptr<WatchedServer> start(std::shared_ptr<Runtime> runtime,
                                              server::ServerSpec spec, server::Identity identity,
                                              const Limits& limits, int generation,
                                              server::Incarnation::Handlers handlers);
  ~WatchedServer();

  void stop();

  /// What the requests that run on it expect now.
  void expect(Expectation expectation);

  /// A token or a piece of a prompt came out of it.
  void progress();

  /// A request failed in a way that is the server's fault: can it still compute? Asks for one
  /// token. If one comes, `on_sound` is called; if not, the server is condemned with `failure`.
  void examine(Failure failure, std::function<void()> on_sound);

  /// It takes connections but does not answer: probes it at once.
  void suspect();

  const server::Incarnation& incarnation() const noexcept { return *incarnation_; }
  const server::ServerSpec& spec() const noexcept { return incarnation_->spec(); }
  RunningServer running() const;

 private:
  WatchedServer(std::shared_ptr<Runtime> runtime, const Limits& limits, int generation);

  void watch();
  void act(Watchdog::Action action);
  void probe();
  void judge();
  bool computes() const;
  void condemn_hung();
  void examined(bool sound);

  std::shared_ptr<Runtime> runtime_;
  Limits limits_;
  int generation_;
  std::shared_ptr<server::Incarnation> incarnation_;
  Watchdog watchdog_;
  Timer watch_, probe_limit_, examination_limit_;
  struct Probe {
    std::chrono::steady_clock::time_point began{};
    std::chrono::milliseconds processor_time{};  ///< of the server, when it began
    bool wanted_processor = false;               ///< when it began
    std::optional<LoopProbe> calls{};
  } probe_;
  std::shared_ptr<http::Exchange> examination_;
  Failure examined_failure_;
  std::vector<std::function<void()>> on_sound_;
  bool progress_since_examined_ = false;
};

}  // namespace llamavisor::supervisor
