/// \file
/// A child under test, seen from the test's own thread.
#pragma once

#include "process/child_process.hpp"
#include "process/system_calls.hpp"
#include "runtime/runtime.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace llamavisor::process::testing {

/// Long enough for any machine: a test that runs into it has hung.
inline constexpr std::chrono::seconds hang_guard{60};

/// The program that shows how it was started, with its mode and arguments.
SpawnRequest probe(std::vector<std::string> arguments);

/// Runs a task on the runtime thread, and waits for it.
void on_runtime(Runtime& runtime, const std::function<void()>& task);

/// Spawns on the runtime thread and records what comes. Each wait ends with what it waits for, or
/// throws after the hang guard.
class Spawned {
 public:
  explicit Spawned(SpawnRequest request, SystemCalls& calls = SystemCalls::real(),
                   std::shared_ptr<Runtime> runtime = Runtime::shared());
  ~Spawned();
  Spawned(const Spawned&) = delete;
  Spawned& operator=(const Spawned&) = delete;

  bool started() const { return started_; }
  const SpawnError& error() const { return error_; }
  std::int64_t pid() const { return pid_; }

  /// The first line that starts like this, without that start.
  std::string wait_for_line(const std::string& start);
  void wait_for_output();
  ExitStatus wait_for_exit();
  std::int64_t wait_for_unreaped();

  std::vector<std::string> lines() const;
  int exits() const;

  void stop(StopPlan plan);
  void kill();
  void forget();  ///< destroys the handle, on the runtime thread
  /// Calls a member on the runtime thread.
  void call(const std::function<void(ChildProcess&)>& task);

  Runtime& runtime() { return *runtime_; }

 private:
  struct Record {
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<std::string> lines;
    std::vector<ExitStatus> exits;
    std::optional<std::int64_t> unreaped;
    bool output = false;
  };
  template <typename Condition>
  void wait(const char* what, Condition condition);

  std::shared_ptr<Runtime> runtime_;
  std::shared_ptr<Record> record_ = std::make_shared<Record>();
  std::shared_ptr<ChildProcess> child_;
  SpawnError error_;
  bool started_ = false;
  std::int64_t pid_ = -1;
};

/// Waits until a condition holds that nothing tells of; throws after the hang guard.
void wait_until(const char* what, const std::function<bool()>& condition);

/// True where the process is gone, or is a zombie.
bool has_ended(std::int64_t pid);

/// True where a signal has stopped the process.
bool is_stopped(std::int64_t pid);

/// What a process must have again after whatever it did with its children: the numbers of its open
/// descriptors, and its children, zombies as well.
struct Belongings {
  std::vector<int> descriptors;
  std::vector<std::int64_t> children;
  bool operator==(const Belongings&) const = default;
};
std::ostream& operator<<(std::ostream& stream, const Belongings& belongings);

/// Counted on the runtime thread, after it has had a child: its loop's own descriptors come with
/// the first.
Belongings belongings(const std::shared_ptr<Runtime>& runtime);

/// The same, once the children that former tests have let go of are reaped.
Belongings settled_belongings(const std::shared_ptr<Runtime>& runtime);

}  // namespace llamavisor::process::testing
