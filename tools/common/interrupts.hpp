/// \file
/// Ctrl-C and its kin, as values.
#pragma once

#include "common/wake_pipe.hpp"

#include <signal.h>

#include <atomic>
#include <mutex>
#include <stop_token>
#include <thread>

namespace llamavisor::cli {

/// Takes SIGINT, SIGTERM and SIGHUP on a thread of its own, and ignores SIGPIPE: a program that
/// died of a signal would leave the folder of the server's socket behind.
///
/// Make it first of all in main(): threads started later inherit the blocked signals.
class Interrupts {
 public:
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  /// Stopped by the next signal. After `forget()`, a new one.
  std::stop_token token() const;

  /// The signal that came last; 0 where none did.
  int signal() const noexcept { return signal_; }

  /// A signal that asks the program to end, rather than what it does just now.
  bool terminated() const noexcept { return terminated_; }

  /// As a shell counts it: 128 + the signal.
  int exit_status() const noexcept { return 128 + signal_; }

  /// Readable from the first signal until `forget()`.
  int descriptor() const noexcept { return pipe_.descriptor(); }

  /// A Ctrl-C has been dealt with. A termination is never forgotten.
  void forget();

 private:
  void watch();
  void arrived(int signal);

  WakePipe pipe_;
  sigset_t watched_;
  sigset_t mask_before_;
  struct sigaction pipe_before_;
  std::atomic<int> signal_ = 0;
  std::atomic<bool> terminated_ = false;
  std::atomic<bool> ending_ = false;
  mutable std::mutex mutex_;
  std::stop_source source_;
  std::thread thread_;
};

}  // namespace llamavisor::cli
