// A host that is a process of its own: it spawns, and ends or misbehaves in one way.
#include <llamavisor/error.hpp>

#include "process/child_process.hpp"
#include "runtime/runtime.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace {

bool is_copy = false;

}  // namespace

/// The leak checker asks it at the end. In a copy from fork() the parent's other threads are gone,
/// and with them the stacks from which what they worked on could be reached: no leak of anybody's.
extern "C" int __lsan_is_turned_off();   // NOLINT(bugprone-reserved-identifier)
extern "C" int __lsan_is_turned_off() {  // NOLINT(bugprone-reserved-identifier)
  return is_copy ? 1 : 0;
}

namespace {

using namespace llamavisor;
using namespace llamavisor::process;

// Lines of the child are passed on, so that the test sees them.
void say(int descriptor, std::string line) {
  line += '\n';
  if (::write(descriptor, line.data(), line.size()) < 0) std::abort();
}

void on_runtime(Runtime& runtime, const std::function<void()>& task) {
  const auto done = std::make_shared<std::promise<void>>();
  runtime.post([&task, done] {
    task();
    done->set_value();
  });
  done->get_future().wait();
}

struct Host {
  std::shared_ptr<Runtime> runtime = Runtime::shared();
  std::shared_ptr<ChildProcess> child;
  std::promise<ExitStatus> ended;
  std::promise<void> ready;

  void spawn(const std::string& program, std::vector<std::string> arguments, int output = 1) {
    SpawnRequest request;
    request.command = {program};
    request.command.insert(request.command.end(), arguments.begin(), arguments.end());
    ChildProcess::Handlers handlers;
    handlers.on_line = [this, output](std::string_view line) {
      if (line == "ready") ready.set_value();
      say(output, std::string(line));
    };
    handlers.on_exit = [this](ExitStatus status) { ended.set_value(status); };
    on_runtime(*runtime, [&] {
      SpawnError error;
      child = ChildProcess::spawn(runtime, request, std::move(handlers), error);
      if (!child) std::exit(9);
      say(output, "child " + std::to_string(child->pid()));
    });
  }

  // A child that still serves answers "pong".
  void ask() {
    ready.get_future().wait();
    ::kill(static_cast<pid_t>(child->pid()), SIGUSR1);
  }
};

// Ends only when it is killed.
int wait_for_ever(const std::string& program) {
  Host host;
  host.spawn(program, {"polite"});
  while (true)
    ::pause();
}

// The thread that asked for the child ends; the child answers afterwards.
int thread_ends(const std::string& program) {
  Host host;
  pid_t thread_id = 0;
  std::thread([&] {
    thread_id = ::gettid();
    host.spawn(program, {"polite"});
  }).join();
  const std::string task = "/proc/self/task/" + std::to_string(thread_id);
  while (std::filesystem::exists(task))
    std::this_thread::yield();
  host.ask();
  while (true)
    ::pause();
}

// Without descriptors of its own a host's pipes would become 0, 1 and 2. A first child comes
// before, so that the loop's own descriptors do not fill the gap.
int closed_descriptors(const std::string& program) {
  const int output = ::fcntl(1, F_DUPFD_CLOEXEC, 10);
  Host before;
  before.spawn(program, {"exit", "0"}, output);
  before.ended.get_future().wait();
  for (int number = 0; number < 3; ++number)
    ::close(number);
  Host host;
  host.spawn(program, {"report"}, output);
  return host.ended.get_future().get().code.value_or(8);
}

// A child of fork() throws its copies away and ends; the parent's child goes on.
int forks(const std::string& program) {
  Host host;
  host.spawn(program, {"polite"});
  const pid_t copy = ::fork();
  if (copy == 0) {
    ::alarm(60);
    is_copy = true;
    int code = 0;
    try {
      static_cast<void>(Runtime::shared());
      code = 1;
    } catch (const Error& error) {
      if (error.code() != errc::wrong_process) code = 2;
    }
    host.child.reset();
    host.runtime.reset();
    std::exit(code);
  }
  int status = 0;
  while (::waitpid(copy, &status, 0) < 0) {
  }
  say(1, "copy ended " + std::to_string(status));
  host.ask();
  while (true)
    ::pause();
}

// The host's main() returns while its child runs.
int returns(const std::string& program) {
  auto* host = new Host;
  host->spawn(program, {"polite"});
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string_view, int (*)(const std::string&)> modes = {
      {"wait-for-ever", wait_for_ever},
      {"thread-ends", thread_ends},
      {"closed-descriptors", closed_descriptors},
      {"forks", forks},
      {"returns", returns},
  };
  const auto mode = argc == 3 ? modes.find(argv[1]) : modes.end();
  return mode == modes.end() ? 64 : mode->second(argv[2]);
}
