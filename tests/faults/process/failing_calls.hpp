/// \file
/// System calls of which the n-th of one kind fails.
#pragma once

#include "process/system_calls.hpp"

#include <atomic>
#include <cerrno>
#include <map>
#include <string_view>

namespace llamavisor::process::testing {

/// Counts the calls of one name, also those that the child makes before it is the program: until
/// then it shares our memory.
class FailingCalls : public SystemCalls {
 public:
  FailingCalls(std::string_view name, int nth, int error) : name_(name), nth_(nth), error_(error) {}

  bool fired() const { return fired_; }

  int open(const char* path, int flags) override {
    return fails("open") ? -1 : SystemCalls::open(path, flags);
  }
  int pipe2(int (&ends)[2], int flags) override {
    return fails("pipe2") ? -1 : SystemCalls::pipe2(ends, flags);
  }
  int fcntl(int descriptor, int command, int argument) override {
    return fails("fcntl") ? -1 : SystemCalls::fcntl(descriptor, command, argument);
  }
  ssize_t read(int descriptor, void* buffer, std::size_t size) override {
    return fails("read") ? -1 : SystemCalls::read(descriptor, buffer, size);
  }
  ssize_t write(int descriptor, const void* buffer, std::size_t size) override {
    return fails("write") ? -1 : SystemCalls::write(descriptor, buffer, size);
  }
  int dup3(int from, int to, int flags) override {
    return fails("dup3") ? -1 : SystemCalls::dup3(from, to, flags);
  }
  int clone_vfork(int (*child)(void*), void* stack_top, void* argument, int& pidfd) override {
    return fails("clone") ? -1 : SystemCalls::clone_vfork(child, stack_top, argument, pidfd);
  }
  int waitid(idtype_t kind, id_t id, siginfo_t& info, int options) override {
    return fails("waitid") ? -1 : SystemCalls::waitid(kind, id, info, options);
  }
  int kill_group(pid_t group, int signal) override {
    return fails("kill") ? -1 : SystemCalls::kill_group(group, signal);
  }
  int pidfd_send_signal(int pidfd, int signal) override {
    return fails("pidfd_send_signal") ? -1 : SystemCalls::pidfd_send_signal(pidfd, signal);
  }
  int setpgid(pid_t pid, pid_t group) override {
    return fails("setpgid") ? -1 : SystemCalls::setpgid(pid, group);
  }
  int set_disposition(int signal, bool ignore) override {
    return fails("sigaction") ? -1 : SystemCalls::set_disposition(signal, ignore);
  }
  int empty_signal_mask() override {
    return fails("sigprocmask") ? -1 : SystemCalls::empty_signal_mask();
  }
  int set_parent_death_signal(int signal) override {
    return fails("prctl") ? -1 : SystemCalls::set_parent_death_signal(signal);
  }
  pid_t getppid() override { return fails("getppid") ? 1 : SystemCalls::getppid(); }
  int close_range(unsigned first, unsigned last) override {
    return fails("close_range") ? -1 : SystemCalls::close_range(first, last);
  }
  int chdir(const char* path) override { return fails("chdir") ? -1 : SystemCalls::chdir(path); }
  int execve(const char* path, char* const* arguments, char* const* environment) override {
    return fails("execve") ? -1 : SystemCalls::execve(path, arguments, environment);
  }

 private:
  bool fails(std::string_view name) {
    if (name != name_ || ++calls_ != nth_) return false;
    fired_ = true;
    errno = error_;
    return true;
  }

  const std::string_view name_;
  const int nth_, error_;
  std::atomic<int> calls_{0};
  std::atomic<bool> fired_{false};
};

}  // namespace llamavisor::process::testing
