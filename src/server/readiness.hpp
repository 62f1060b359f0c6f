/// \file
/// From a spawned server to a ready one. A sans-IO state machine.
#pragma once

#include <llamavisor/error.hpp>

#include <string>
#include <string_view>

namespace llamavisor::server {

/// The answer to one question of the start: a status and a body, or no connection.
struct StartAnswer {
  int status = 0;  ///< 0: nobody listens yet, or the connection broke
  std::string_view body{};
};

/// Ready means that a real token came out, not that `/health` said 200.
///
/// | state       | 200 and as expected | 503, or no connection | anything else         |
/// |-------------|---------------------|-----------------------|-----------------------|
/// | listening   | ask `/props`        | ask again, later      | ask again, later      |
/// | identifying | ask for one token   | ask again, later      | fail: not our server  |
/// | proving     | ready               | ask again, later      | fail: cannot compute  |
/// | ready       | -                   | -                     | -                     |
/// | failed      | -                   | -                     | -                     |
///
/// "Later" is `poll_interval`; the exit of the process and the silence limit end it from outside.
class Readiness {
 public:
  enum class State { listening, identifying, proving, ready, failed };
  enum class Action {
    ask_health,
    ask_properties,
    ask_token,
    ask_later,
    report_ready,
    report_failure
  };

  explicit Readiness(std::string alias);

  /// The question that is due now; after `ask_later`, ask for it again when the time has come.
  Action due() const;

  Action answered(const StartAnswer& answer);

  State state() const noexcept { return state_; }
  Phase phase() const noexcept;

  /// Of `report_failure`.
  const Failure& failure() const noexcept { return failure_; }

  /// What `/props` said, once ready.
  int slots() const noexcept { return slots_; }
  int context_length() const noexcept { return context_length_; }
  const std::string& bos_text() const noexcept { return bos_text_; }

 private:
  Action identify(std::string_view body);
  Action prove(std::string_view body);
  Action fail(Failure failure);

  std::string alias_;
  State state_ = State::listening;
  Failure failure_;
  int slots_ = 0;
  int context_length_ = 0;
  std::string bos_text_;
};

}  // namespace llamavisor::server
