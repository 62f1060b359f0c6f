#include "common/interrupts.hpp"

#include <pthread.h>

#include <utility>

namespace llamavisor::cli {

namespace {

bool ignored(int signal) {
  struct sigaction now {};
  return ::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

}  // namespace

Interrupts::Interrupts() {
  sigemptyset(&watched_);
  // SIGINT even where it was ignored: a script's `&` ignores it for its children, and one that
  // sends `kill -INT` on purpose means it. But nohup means what it says.
  sigaddset(&watched_, SIGINT);
  for (const int signal : {SIGTERM, SIGHUP}) {
    if (!ignored(signal)) sigaddset(&watched_, signal);
  }
  pthread_sigmask(SIG_BLOCK, &watched_, &mask_before_);
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignore, &pipe_before_);
  thread_ = std::thread([this] { watch(); });
}

Interrupts::~Interrupts() {
  ending_ = true;
  pthread_kill(thread_.native_handle(), SIGINT);
  thread_.join();
  ::sigaction(SIGPIPE, &pipe_before_, nullptr);
  pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
}

std::stop_token Interrupts::token() const {
  const std::lock_guard lock(mutex_);
  return source_.get_token();
}

void Interrupts::forget() {
  const std::lock_guard lock(mutex_);
  if (terminated_) return;
  signal_ = 0;
  pipe_.silence();
  if (source_.stop_requested()) source_ = {};
}

void Interrupts::watch() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  for (int signal = 0;;) {
    if (sigwait(&watched_, &signal) != 0) continue;
    if (ending_) return;
    arrived(signal);
  }
}

void Interrupts::arrived(int signal) {
  std::unique_lock lock(mutex_);
  if (!terminated_) signal_ = signal;
  if (signal != SIGINT) terminated_ = true;
  pipe_.ring();
  auto source = source_;
  lock.unlock();
  source.request_stop();  // runs callbacks: not under the lock
}

}  // namespace llamavisor::cli
