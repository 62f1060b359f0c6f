#include "runtime/thread_setup.hpp"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <utility>

namespace llamavisor {
namespace {

// Blocked before the thread starts and given back after: a thread that blocks its signals itself
// is open to the host's handlers for its first instructions.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t blocked;
    sigfillset(&blocked);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS}) {
      sigdelset(&blocked, fault);
    }
    pthread_sigmask(SIG_BLOCK, &blocked, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

void name_this_thread(const char* name) {
#if defined(__APPLE__)
  pthread_setname_np(name);
#else
  pthread_setname_np(pthread_self(), name);
#endif
}

}  // namespace

std::thread start_thread(const char* name, std::function<void()> body) {
  const SignalsBlocked blocked;
  return std::thread([name, body = std::move(body)] {
    name_this_thread(name);
    body();
  });
}

long current_process() noexcept {
  return static_cast<long>(::getpid());
}

}  // namespace llamavisor
