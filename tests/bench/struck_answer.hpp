// An answer of a real server that is struck while it is read.
#pragma once

#include <llamavisor/llamavisor.hpp>

#include "frozen_thread.hpp"

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <random>
#include <string>
#include <string_view>

namespace llamavisor::bench {

inline constexpr int struck_tokens = 160;

/// What befalls a server.
struct Fault {
  std::string_view name;
  int signal = 0;  ///< 0: its main thread, which computes, is frozen; its HTTP threads live on
  bool standby = false;
  bool in_prompt = false;
};

class StruckAnswer {
 public:
  /// To be struck after a random token, not always just after it; or in the prompt.
  StruckAnswer(const Fault& fault, std::mt19937& random);

  /// Reads to the end.
  void read(TokenStream stream, pid_t server);

  std::string text;
  GenerateResult result;
  std::chrono::system_clock::time_point struck_at;  ///< the clock of events
  double gap = 0;  ///< ms from the fault to the token that it delayed

 private:
  using Clock = std::chrono::steady_clock;

  void strike(pid_t server);
  void note_token();

  Fault fault_;
  int at_;
  std::chrono::microseconds after_;
  std::optional<test::FrozenThread> frozen_;
  Clock::time_point struck_;
  std::optional<Clock::time_point> last_;  // set once it was struck
  Clock::duration longest_{};
};

/// Asks the server itself: no event tells when a standby is ready.
bool is_loaded(pid_t server);

}  // namespace llamavisor::bench
