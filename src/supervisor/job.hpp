/// \file
/// What a supervisor runs on a server.
#pragma once

#include <llamavisor/error.hpp>

#include "http/exchange.hpp"
#include "server/server_call.hpp"
#include "supervisor/watchdog.hpp"

#include <memory>
#include <string>

namespace llamavisor::supervisor {

/// A ready server, as a job sees it.
struct RunningServer {
  http::Endpoint endpoint{};
  std::string key{};
  int generation = 0;
  std::string device{};
  int engine_build = 0;
  int slots = 0;
  int context_length = 0;
  std::string bos_text{};

  http::Request request(const server::ServerCall& call) const {
    return {.method = call.method, .target = call.target, .body = call.body, .bearer_key = key};
  }
};

/// One request of the host: a completion, a question, a score. On the runtime thread only. It ends
/// exactly once: by itself, and then it tells the supervisor with `Supervisor::finished`, or by
/// `fail`, and then it does not. It is run at most once on each server.
///
/// | call     | waiting        | running                       | ended   |
/// |----------|----------------|-------------------------------|---------|
/// | `run`    | starts, or     | -                             | -       |
/// |          | goes on        |                               |         |
/// | `lose`   | -              | lets its connection go; waits | nothing |
/// | `fail`   | ends           | ends                          | nothing |
class Job {
 public:
  virtual ~Job() = default;

  /// Whether it takes one of the server's slots; small questions do not.
  virtual bool needs_slot() const noexcept = 0;

  /// Where a failure would meet it.
  virtual Phase phase() const noexcept = 0;

  /// What its server owes it now; nothing while the host reads too slowly.
  virtual Expectation expectation() const noexcept = 0;

  virtual void run(const RunningServer& server) = 0;

  /// The server is gone: `run` follows with the next one, or `fail`.
  virtual void lose() = 0;

  virtual void fail(Failure failure) = 0;
};

}  // namespace llamavisor::supervisor
