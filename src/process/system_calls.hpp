/// \file
/// The system calls of this room, as a seam: a test makes the n-th call of one fail.
#pragma once

#include <cstddef>

// NOLINTNEXTLINE(modernize-deprecated-headers): siginfo_t and ssize_t are POSIX
#include <signal.h>
#include <sys/types.h>
#include <sys/wait.h>

namespace llamavisor::process {

/// Each returns what the system call returns, and sets `errno`. The base is the real thing.
/// Those marked (child) are made between clone and execve as well, or only there: in memory shared
/// with the host, so an override may count, and nothing else.
class SystemCalls {
 public:
  SystemCalls() = default;
  virtual ~SystemCalls() = default;
  SystemCalls(const SystemCalls&) = delete;
  SystemCalls& operator=(const SystemCalls&) = delete;

  static SystemCalls& real();

  virtual int open(const char* path, int flags);  // (child)
  virtual int pipe2(int (&ends)[2], int flags);
  virtual int fcntl(int descriptor, int command, int argument);
  virtual int close(int descriptor);  // (child)
  virtual ssize_t read(int descriptor, void* buffer, std::size_t size);
  virtual ssize_t write(int descriptor, const void* buffer, std::size_t size);  // (child)
  virtual int dup3(int from, int to, int flags);                                // (child)

  /// clone() with a process of its own that shares memory until it calls execve: the caller stands
  /// still until then. `pidfd` is opened in the same step.
  virtual int clone_vfork(int (*child)(void*), void* stack_top, void* argument, int& pidfd);
  virtual int waitid(idtype_t kind, id_t id, siginfo_t& info, int options);
  /// What waitpid() would have told of a process that somebody else has reaped. Linux 6.15 and
  /// newer.
  virtual int pidfd_exit_status(int pidfd, int& status);
  virtual int kill_group(pid_t group, int signal);
  virtual int pidfd_send_signal(int pidfd, int signal);

  virtual int setpgid(pid_t pid, pid_t group);             // (child)
  virtual int set_disposition(int signal, bool ignore);    // (child) SIG_IGN or SIG_DFL
  virtual int empty_signal_mask();                         // (child)
  virtual int set_parent_death_signal(int signal);         // (child)
  virtual pid_t getppid();                                 // (child)
  virtual int close_range(unsigned first, unsigned last);  // (child)
  virtual int chdir(const char* path);                     // (child)
  virtual int execve(const char* path, char* const* arguments,
                     char* const* environment);  // (child)
};

}  // namespace llamavisor::process
