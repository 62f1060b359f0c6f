#include "frozen_thread.hpp"

#include <sys/ptrace.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>

namespace llamavisor::test {

namespace {

void trace(__ptrace_request request, pid_t thread) {
  if (::ptrace(request, thread, nullptr, nullptr) == 0) return;
  throw std::runtime_error("cannot freeze thread " + std::to_string(thread) + ": " +
                           std::strerror(errno));
}

}  // namespace

FrozenThread::FrozenThread(pid_t thread) : thread_(thread) {
  // Not PTRACE_ATTACH, which stops the whole process with a SIGSTOP.
  trace(PTRACE_SEIZE, thread_);
  trace(PTRACE_INTERRUPT, thread_);
  // WSTOPPED alone: the end of the process stays for the library to take.
  siginfo_t stop{};
  const auto id = static_cast<id_t>(thread_);
  while (::waitid(P_PID, id, &stop, WSTOPPED | __WALL) != 0) {
    if (errno != EINTR) throw std::runtime_error("the thread to freeze has gone");
  }
}

FrozenThread::~FrozenThread() {
  ::ptrace(PTRACE_DETACH, thread_, nullptr, nullptr);  // fails where it was killed meanwhile
}

}  // namespace llamavisor::test
