// The events of a streamed completion on their way out.
#pragma once

#include "connection.hpp"

#include <chrono>
#include <string_view>

namespace fake {

class CompletionStream {
 public:
  CompletionStream(Connection& connection, std::chrono::milliseconds ping_interval)
      : connection_(connection), ping_interval_(ping_interval) {}

  /// The head goes out with the first event, so an earlier failure can still have its status.
  void begin();
  void event(std::string_view json);
  void raw(std::string_view text);
  void end();

  /// A keep-alive comment, if it is time for one and the head has gone out.
  void keep_alive();

 private:
  void sent() { last_sent_ = std::chrono::steady_clock::now(); }

  Connection& connection_;
  std::chrono::milliseconds ping_interval_;
  std::chrono::steady_clock::time_point last_sent_ = std::chrono::steady_clock::now();
  bool begun_ = false;
};

}  // namespace fake
