/// \file
/// One llama-server process, from its spawn to its end.
#pragma once

#include <llamavisor/load_options.hpp>

#include "http/exchange.hpp"
#include "process/child_process.hpp"
#include "runtime/timer.hpp"
#include "server/device_question.hpp"
#include "server/launch.hpp"
#include "server/load_log.hpp"
#include "server/readiness.hpp"

#include <functional>
#include <memory>
#include <optional>

namespace llamavisor::server {

/// How an incarnation ended.
struct Down {
  bool asked = false;                 ///< by `stop()`: no failure
  std::optional<Failure> unreaped{};  ///< it was killed, but the kernel keeps it
  Failure failure{};                  ///< why it had to end; not what its end was like
};

/// One llama-server process. It is spawned, proved by a real token, served from, stopped. All
/// members and call-backs on the runtime thread; no call-back comes from within `start` or `stop`.
class Incarnation : public std::enable_shared_from_this<Incarnation> {
 public:
  struct Handlers {
    std::function<void(const LoadLog::Progress&)> on_progress;
    std::function<void()> on_ready;
    std::function<Phase()> serving_phase;  ///< asked when it dies while serving
    std::function<void(Down)> on_down;     ///< once, last
  };

  static std::shared_ptr<Incarnation> start(std::shared_ptr<Runtime> runtime, ServerSpec spec,
                                            Identity identity, Limits limits, Handlers handlers);
  ~Incarnation();

  /// SIGTERM, the grace, SIGKILL; `on_down` follows. Also during the load.
  void stop();

  /// Ends it as failed, with SIGKILL: it hangs, or cannot compute.
  void condemn(Failure failure);

  bool spawned() const noexcept { return child_ != nullptr; }
  bool ready() const noexcept { return readiness_.state() == Readiness::State::ready; }
  const http::Endpoint& endpoint() const noexcept { return endpoint_; }
  const std::string& key() const noexcept { return identity_.key; }
  const ServerSpec& spec() const noexcept { return spec_; }
  const Readiness& facts() const noexcept { return readiness_; }
  const LoadLog& log() const noexcept { return log_; }
  std::uint64_t memory() const;
  std::chrono::milliseconds processor_time() const;
  bool wants_processor() const;
  std::vector<std::string> last_lines() const;

 private:
  Incarnation(std::shared_ptr<Runtime> runtime, ServerSpec spec, Identity identity, Limits limits,
              Handlers handlers);

  void spawn();
  void act(Readiness::Action action);
  void ask(const struct ServerCall& call);
  void ask_later();
  void showed_life();
  void took_line(std::string_view line);
  void watch_silence();
  void exited(process::ExitStatus status);
  void stayed(std::int64_t pid);
  void ask_for_devices(Failure failure);
  void report_down(Down down);
  Phase phase() const;

  std::shared_ptr<Runtime> runtime_;
  ServerSpec spec_;
  Identity identity_;
  Limits limits_;
  Handlers handlers_;
  http::Endpoint endpoint_;
  Readiness readiness_;
  LoadLog log_;
  Timer poll_, silence_;
  std::shared_ptr<process::ChildProcess> child_;
  std::shared_ptr<http::Exchange> question_;
  std::shared_ptr<DeviceQuestion> devices_;  // asked after the end, for its failure
  std::optional<Failure> condemned_;
  bool any_output_ = false;
  bool stopping_ = false;
  bool down_ = false;
};

}  // namespace llamavisor::server
