/// \file
/// Lines about events, which wait for a place between two lines of an answer.
#pragma once

#include <llamavisor/event.hpp>

#include "common/wake_pipe.hpp"

#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace llamavisor::cli {

/// The line for an event that a person should hear of; empty for what goes as it should.
std::optional<std::string> notice(const Event& event);

/// Filled from the event thread, shown from the thread that writes the answer.
class Notices {
 public:
  void add(const Event& event);

  /// Takes out what the error's own line will say.
  void drop(const Failure& failure);

  /// Writes what waits to standard error. Only where a line may begin.
  void show();

  /// Readable while notices wait.
  int descriptor() const noexcept { return bell_.descriptor(); }

 private:
  WakePipe bell_;
  std::mutex mutex_;
  std::vector<std::string> waiting_;
};

}  // namespace llamavisor::cli
