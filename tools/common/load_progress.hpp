/// \file
/// A load, as a person watches it.
#pragma once

#include <llamavisor/event.hpp>

#include <chrono>
#include <mutex>
#include <string>

namespace llamavisor::cli {

/// Shows the events of a load on standard error: on a terminal one line that is drawn over and over
/// and wiped at the end, otherwise a line for each step, or nothing. Any thread.
class LoadProgress {
 public:
  enum class Style {
    automatic,     ///< a bar on a terminal, lines elsewhere
    terminal_only  ///< a bar on a terminal, nothing elsewhere
  };

  LoadProgress(std::string model, Style style);

  void show(const Event& event);

  /// Wipes the bar; what comes later is not shown.
  void finish();

 private:
  void draw(const Event& event, const std::string& step);

  const std::string model_;
  const bool on_terminal_;
  const bool lines_;
  std::mutex mutex_;
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::string last_step_;
  bool drawn_ = false;
  bool finished_ = false;
};

}  // namespace llamavisor::cli
