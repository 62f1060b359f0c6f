#include "process/system_calls.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>

// The thread sanitizer takes clone() for fork(): it would do its bookkeeping for a copy in memory
// that is still ours. The C library's own name for it is left alone.
#if defined(LLAMAVISOR_SANITIZED) && defined(__GLIBC__)
// NOLINTNEXTLINE(bugprone-reserved-identifier)
extern "C" int __clone(int (*)(void*), void*, int, void*, ...);
#define LLAMAVISOR_CLONE __clone
#else
#define LLAMAVISOR_CLONE ::clone
#endif

namespace llamavisor::process {
namespace {

// Newer than the C libraries that we build with.
#if !defined(SYS_close_range)
#define SYS_close_range 436
#endif
#if !defined(SYS_pidfd_send_signal)
#define SYS_pidfd_send_signal 424
#endif
#if !defined(CLONE_PIDFD)
#define CLONE_PIDFD 0x00001000
#endif

constexpr std::size_t kernel_mask_size = _NSIG / 8;

// The kernel's own struct sigaction, large enough on every machine; all zero is SIG_DFL.
struct KernelAction {
  void (*handler)(int);
  unsigned char rest[56];
};

// The kernel's struct pidfd_info in its first version.
struct PidfdInfo {
  std::uint64_t mask, control_group;
  std::uint32_t numbers[11];
  std::int32_t exit_code;
};
static_assert(sizeof(PidfdInfo) == 64);

}  // namespace

SystemCalls& SystemCalls::real() {
  static SystemCalls& calls = *new SystemCalls;
  return calls;
}

int SystemCalls::open(const char* path, int flags) {
  return ::open(path, flags);
}
int SystemCalls::pipe2(int (&ends)[2], int flags) {
  return ::pipe2(ends, flags);
}

int SystemCalls::fcntl(int descriptor, int command, int argument) {
  return ::fcntl(descriptor, command, argument);
}

int SystemCalls::close(int descriptor) {
  return ::close(descriptor);
}

ssize_t SystemCalls::read(int descriptor, void* buffer, std::size_t size) {
  return ::read(descriptor, buffer, size);
}

ssize_t SystemCalls::write(int descriptor, const void* buffer, std::size_t size) {
  return ::write(descriptor, buffer, size);
}

int SystemCalls::dup3(int from, int to, int flags) {
  return ::dup3(from, to, flags);
}

int SystemCalls::clone_vfork(int (*child)(void*), void* stack_top, void* argument, int& pidfd) {
  return LLAMAVISOR_CLONE(child, stack_top, CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD,
                          argument, &pidfd);
}

int SystemCalls::waitid(idtype_t kind, id_t id, siginfo_t& info, int options) {
  return ::waitid(kind, id, &info, options);
}

int SystemCalls::pidfd_exit_status(int pidfd, int& status) {
  constexpr std::uint64_t wants_exit = 1U << 3;
  PidfdInfo info{};
  info.mask = wants_exit;
  if (::ioctl(pidfd, _IOWR(0xFF, 11, PidfdInfo), &info) != 0) return -1;
  if ((info.mask & wants_exit) == 0) {
    errno = ENODATA;
    return -1;
  }
  status = info.exit_code;
  return 0;
}

int SystemCalls::kill_group(pid_t group, int signal) {
  return ::kill(-group, signal);
}

int SystemCalls::pidfd_send_signal(int pidfd, int signal) {
  return static_cast<int>(::syscall(SYS_pidfd_send_signal, pidfd, signal, nullptr, 0));
}

int SystemCalls::setpgid(pid_t pid, pid_t group) {
  return ::setpgid(pid, group);
}

// The kernel's call, not the C library's: that one refuses the two signals which it uses itself,
// and sanitizers keep a table of handlers behind it, in memory that is the host's.
int SystemCalls::set_disposition(int signal, bool ignore) {
  KernelAction action{};
  if (ignore) action.handler = SIG_IGN;
  return static_cast<int>(::syscall(SYS_rt_sigaction, signal, &action, nullptr, kernel_mask_size));
}

int SystemCalls::empty_signal_mask() {
  const unsigned char none[kernel_mask_size] = {};
  return static_cast<int>(
      ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, none, nullptr, kernel_mask_size));
}

int SystemCalls::set_parent_death_signal(int signal) {
  return ::prctl(PR_SET_PDEATHSIG, signal);
}
pid_t SystemCalls::getppid() {
  return ::getppid();
}

int SystemCalls::close_range(unsigned first, unsigned last) {
  return static_cast<int>(::syscall(SYS_close_range, first, last, 0U));
}

int SystemCalls::chdir(const char* path) {
  return ::chdir(path);
}

int SystemCalls::execve(const char* path, char* const* arguments, char* const* environment) {
  return ::execve(path, arguments, environment);
}

}  // namespace llamavisor::process
