// All that the server's threads share.
#pragma once

#include "arguments.hpp"
#include "connection.hpp"
#include "slots.hpp"
#include "turning_points.hpp"

#include <atomic>
#include <chrono>
#include <string>
#include <string_view>

namespace fake {

class Server {
 public:
  Server(const Arguments& arguments, const Script& script, const Story& story);

  /// Serves one connection to its end, on a thread of its own.
  void serve(int descriptor);

  /// Loads the model, so to speak; false when it cannot be loaded.
  bool load();

  /// No more tokens; what is under way is not drained.
  void stop() { stopping_ = true; }
  bool stopping() const { return stopping_; }

  /// Requests that are being answered.
  int active() const { return active_; }
  std::chrono::milliseconds idle_for() const;

  /// A line of the log, with its time.
  void log(char level, std::string_view text) const;

  bool loading() const { return loading_; }
  int context() const { return context_; }
  std::string alias() const;
  bool key_fits(const Request& request) const;

  /// Waits for as long as the compute loop does not turn; with `decodes`, also until no decode
  /// holds it up. `meanwhile` is called every few milliseconds and may throw.
  template <typename Function>
  void wait_for_loop(bool decodes, Function meanwhile) const {
    while (frozen_ || stopping_ || (decodes && decodes_ > 0)) {
      meanwhile();
      pause_briefly();
    }
  }
  void freeze();
  void freeze_in_decode();  ///< a decode that never ends
  void begin_decode() { ++decodes_; }
  void end_decode() { --decodes_; }
  static void pause_briefly();

  /// Writes the script's flood to stderr.
  void flood() const;

  const Arguments& arguments;
  const Script& script;
  const Story& story;
  const TurningPoints points;
  Slots slots;
  std::atomic<int> completions{0};
  std::atomic<long> next_request{1};

 private:
  void answer(Connection& connection, const Request& request);

  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  int context_ = 0;
  std::string key_;
  std::atomic<bool> loading_{true}, stopping_{false}, frozen_{false};
  std::atomic<int> active_{0}, decodes_{0};
  std::atomic<int> refused_while_loading_{0};
  std::atomic<std::int64_t> last_activity_{0};
};

}  // namespace fake
