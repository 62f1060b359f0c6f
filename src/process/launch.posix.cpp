#include "process/launch.posix.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace llamavisor::process {
namespace {

constexpr int exit_code_of_a_failed_launch = 127;
constexpr std::size_t stack_size = 64 * 1024;

// All that the child needs, made ready before the clone: the child shares our memory, so it may not
// allocate, lock or throw. It reports here, which the host can read once it runs again.
struct Job {
  SystemCalls& calls;
  Streams streams;
  const char* executable = nullptr;
  std::vector<char*> arguments, environment;
  const char* directory = nullptr;
  std::string oom_score_adj;
  pid_t host = 0;
  unsigned last_descriptor = ~0U;
  bool has_close_range = true;

  const char* volatile failed_step = nullptr;
  volatile int failed_errno = 0;
};

// The kernel's call, not the C library's: a sanitizer would end the host's books in its memory.
[[noreturn]] void fail(Job& job, const char* step) {
  job.failed_errno = errno;
  job.failed_step = step;
  while (true) {
    ::syscall(SYS_exit_group, exit_code_of_a_failed_launch);
  }
}

// Handlers go before the mask is emptied: a handler of the host would run here, in the host's
// memory. Ignoring a signal first drops one that is pending, such as a Ctrl-C in the terminal
// between the clone and setpgid.
void reset_signals(Job& job) {
  for (int signal = 1; signal < _NSIG; ++signal) {
    if (signal == SIGKILL || signal == SIGSTOP) continue;
    if (job.calls.set_disposition(signal, true) != 0) fail(job, "sigaction");
    if (job.calls.set_disposition(signal, false) != 0) fail(job, "sigaction");
  }
}

void close_other_descriptors(Job& job) {
  constexpr unsigned first = 3;
  if (job.has_close_range) {
    if (job.calls.close_range(first, ~0U) != 0) fail(job, "close_range");
    return;
  }
  for (unsigned number = first; number <= job.last_descriptor; ++number) {
    job.calls.close(static_cast<int>(number));
  }
}

// Without /proc, or where it is forbidden, the child is one like any other.
void set_oom_score(Job& job) {
  if (job.oom_score_adj.empty()) return;
  const int file = job.calls.open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (file < 0) return;
  static_cast<void>(job.calls.write(file, job.oom_score_adj.data(), job.oom_score_adj.size()));
  job.calls.close(file);
}

int child_main(void* argument) {
  Job& job = *static_cast<Job*>(argument);
  SystemCalls& calls = job.calls;
  if (calls.setpgid(0, 0) != 0) fail(job, "setpgid");
  reset_signals(job);
  if (calls.set_parent_death_signal(SIGKILL) != 0) fail(job, "prctl");
  // The host died before that: nobody would ever end this process.
  if (calls.getppid() != job.host) {
    errno = ESRCH;
    fail(job, "getppid");
  }
  if (calls.dup3(job.streams.in, STDIN_FILENO, 0) < 0) fail(job, "dup3");
  if (calls.dup3(job.streams.out, STDOUT_FILENO, 0) < 0) fail(job, "dup3");
  if (calls.dup3(job.streams.error, STDERR_FILENO, 0) < 0) fail(job, "dup3");
  close_other_descriptors(job);
  if (job.directory != nullptr && calls.chdir(job.directory) != 0) fail(job, "chdir");
  set_oom_score(job);
  if (calls.empty_signal_mask() != 0) fail(job, "sigprocmask");
  calls.execve(job.executable, job.arguments.data(), job.environment.data());
  fail(job, "execve");
}

// Kernels before 5.9, and some sandboxes, have no close_range: then the child closes one by one, up
// to the highest that is open now, and some more for threads of the host that open files meanwhile.
void prepare_closing(Job& job) {
  if (job.calls.close_range(~0U, ~0U) == 0) return;
  job.has_close_range = false;
  unsigned highest = 1023;
  std::error_code error;
  const std::filesystem::directory_iterator end;
  for (std::filesystem::directory_iterator entry("/proc/self/fd", error); !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename();
    unsigned number = 0;
    std::from_chars(name.data(), name.data() + name.size(), number);
    highest = std::max(highest, number);
  }
  job.last_descriptor = highest + 256;
}

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> result;
  result.reserve(strings.size() + 1);
  for (const auto& string : strings)
    result.push_back(const_cast<char*>(string.c_str()));
  result.push_back(nullptr);
  return result;
}

class AllSignalsBlocked {
 public:
  AllSignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~AllSignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  AllSignalsBlocked(const AllSignalsBlocked&) = delete;
  AllSignalsBlocked& operator=(const AllSignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

// What follows a NUL would be lost without a word.
bool has_nul(const std::vector<std::string>& strings) {
  return std::any_of(strings.begin(), strings.end(), [](const std::string& string) {
    return string.find('\0') != std::string::npos;
  });
}

bool valid(const SpawnRequest& request) {
  return !request.command.empty() && request.command.front().starts_with('/') &&
         !has_nul(request.command) && !has_nul(request.environment) &&
         request.working_directory.native().find('\0') == std::string::npos;
}

// The child is past its last step, or has been killed: this does not take long. By its descriptor,
// since a host that waits for any child may have reaped it, and its number may be another's.
void reap(const Launched& launched, SystemCalls& calls) {
  const bool by_pidfd = launched.pidfd.get() >= 0;
  const int id = by_pidfd ? launched.pidfd.get() : launched.pid;
  siginfo_t info{};
  while (calls.waitid(by_pidfd ? P_PIDFD : P_PID, static_cast<id_t>(id), info, WEXITED) != 0 &&
         errno == EINTR) {
  }
}

}  // namespace

Launched launch(const SpawnRequest& request, const Streams& streams, SystemCalls& calls,
                SpawnError& error) {
  Launched launched{.pid = -1, .pidfd = Descriptor(calls)};
  if (!valid(request)) {
    error = {.step = "command", .error = EINVAL};
    return launched;
  }
  Job job{
      .calls = calls,
      .streams = streams,
      .executable = request.command.front().c_str(),
      .arguments = pointers(request.command),
      .environment = pointers(request.environment),
      .directory = request.working_directory.empty() ? nullptr : request.working_directory.c_str(),
      .oom_score_adj = request.oom_score_adj ? std::to_string(*request.oom_score_adj) : "",
      .host = ::getpid()};
  prepare_closing(job);
  // A stack of its own: the child's frames shall not lie on those that we return to.
  const auto stack =
      std::make_unique_for_overwrite<std::max_align_t[]>(stack_size / sizeof(std::max_align_t));

  int pidfd = -1;
  {
    const AllSignalsBlocked blocked;
    launched.pid = calls.clone_vfork(
        child_main, stack.get() + stack_size / sizeof(std::max_align_t), &job, pidfd);
    if (launched.pid < 0) error = {.step = "clone", .error = errno};
  }
  if (launched.pid < 0) return launched;
  launched.pidfd.reset(pidfd);
  if (job.failed_step != nullptr) {
    error = {.step = job.failed_step, .error = job.failed_errno};
    reap(launched, calls);
  } else if (pidfd < 0) {
    error = {.step = "pidfd", .error = ENOSYS};  // Linux before 5.4
    abort_launch(launched, calls);
  }
  return launched;
}

void abort_launch(const Launched& launched, SystemCalls& calls) {
  calls.kill_group(launched.pid, SIGKILL);
  reap(launched, calls);
}

}  // namespace llamavisor::process
