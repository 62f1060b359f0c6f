/// \file
/// Tells a busy server from a hung one. A sans-IO state machine.
#pragma once

#include <llamavisor/load_options.hpp>

#include <chrono>
#include <optional>

namespace llamavisor::supervisor {

/// What is expected of a server.
enum class Expectation {
  nothing,    ///< no request runs, or its reader is slow
  prompt,     ///< a prompt is being computed
  generation  ///< tokens should come
};

/// `/health` and keep-alives prove only the HTTP threads: with the compute thread frozen they go on
/// for ever. A probe (`LoopProbe`) waits for the compute loop, so it waits for the end of a decode
/// as well, and one decode of a long prompt on a slow processor takes minutes: such a server uses
/// its processors, a frozen one does not. So a server hangs when there was no progress for the soft
/// limit *and* the probe stays unanswered for the probe limit *and* the server used next to no
/// processor time meanwhile; or when there was no progress for the hard limit, whatever answers.
///
/// | state    | progress | soft limit over | spare  | probe limit over | hard limit over |
/// |----------|----------|-----------------|--------|------------------|-----------------|
/// | resting  | resting  | -               | -      | -                | -               |
/// | watching | watching | probe → probing | -      | -                | hung            |
/// | probing  | watching | -               | spared | unanswered       | hung            |
/// | spared   | watching | -               | -      | -                | hung            |
///
/// After `unanswered` the caller looks at the processor time, and spares the server or kills it. A
/// spared server is probed again each soft limit.
class Watchdog {
 public:
  using Time = std::chrono::steady_clock::time_point;
  enum class Action { none, probe, unanswered, hung };

  explicit Watchdog(const Limits& limits) : limits_(limits) {}

  /// What the running requests expect now. A new kind of expectation starts anew.
  void expect(Expectation expectation, Time now);

  /// A token, or a piece of a prompt.
  void progress(Time now);

  /// The probe was answered, or the server computes.
  void spare(Time now);

  /// When to call `expired` next; empty while there is nothing to wait for.
  std::optional<Time> deadline() const;

  Action expired(Time now);

 private:
  std::chrono::milliseconds soft() const;
  std::chrono::milliseconds hard() const;

  Limits limits_;
  Expectation expectation_ = Expectation::nothing;
  Time last_progress_{};
  Time quiet_since_{};  ///< of the soft limit: progress, or the last time that it was spared
  std::optional<Time> probed_at_;
};

}  // namespace llamavisor::supervisor
