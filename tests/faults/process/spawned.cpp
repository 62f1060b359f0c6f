#include "spawned.hpp"

#include "test_paths.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <thread>

namespace llamavisor::process::testing {

namespace fs = std::filesystem;

SpawnRequest probe(std::vector<std::string> arguments) {
  SpawnRequest request;
  request.command = {test::program("child_probe")};
  request.command.insert(request.command.end(), arguments.begin(), arguments.end());
  request.working_directory = "/";
  return request;
}

void on_runtime(Runtime& runtime, const std::function<void()>& task) {
  const auto done = std::make_shared<std::promise<void>>();
  runtime.post([&task, done] {
    task();
    done->set_value();
  });
  if (done->get_future().wait_for(hang_guard) != std::future_status::ready) std::abort();
}

Spawned::Spawned(SpawnRequest request, SystemCalls& calls, std::shared_ptr<Runtime> runtime)
    : runtime_(std::move(runtime)) {
  ChildProcess::Handlers handlers;
  handlers.on_line = [record = record_](std::string_view line) {
    const std::lock_guard lock(record->mutex);
    record->lines.emplace_back(line);
    record->changed.notify_all();
  };
  handlers.on_exit = [record = record_](ExitStatus status) {
    const std::lock_guard lock(record->mutex);
    record->exits.push_back(status);
    record->changed.notify_all();
  };
  handlers.on_unreaped = [record = record_](std::int64_t pid) {
    const std::lock_guard lock(record->mutex);
    record->unreaped = pid;
    record->changed.notify_all();
  };
  handlers.on_output = [record = record_] {
    const std::lock_guard lock(record->mutex);
    record->output = true;
    record->changed.notify_all();
  };
  on_runtime(*runtime_, [&] {
    child_ = ChildProcess::spawn(runtime_, request, std::move(handlers), error_, calls);
    started_ = child_ != nullptr;
    if (child_) pid_ = child_->pid();
  });
}

Spawned::~Spawned() {
  forget();
}

template <typename Condition>
void Spawned::wait(const char* what, Condition condition) {
  std::unique_lock lock(record_->mutex);
  if (!record_->changed.wait_for(lock, hang_guard, condition)) {
    std::string text = std::string("hung while waiting for ") + what + "; its lines:";
    for (const auto& line : record_->lines)
      text += "\n  " + line;
    throw std::runtime_error(text);
  }
}

std::string Spawned::wait_for_line(const std::string& start) {
  std::string rest;
  wait("a line", [&] {
    for (const auto& line : record_->lines) {
      if (!line.starts_with(start)) continue;
      rest = line.substr(start.size());
      return true;
    }
    return false;
  });
  return rest;
}

void Spawned::wait_for_output() {
  wait("output", [&] { return record_->output; });
}

ExitStatus Spawned::wait_for_exit() {
  wait("the exit", [&] { return !record_->exits.empty(); });
  const std::lock_guard lock(record_->mutex);
  return record_->exits.front();
}

std::int64_t Spawned::wait_for_unreaped() {
  wait("on_unreaped", [&] { return record_->unreaped.has_value(); });
  const std::lock_guard lock(record_->mutex);
  return *record_->unreaped;
}

std::vector<std::string> Spawned::lines() const {
  const std::lock_guard lock(record_->mutex);
  return record_->lines;
}

int Spawned::exits() const {
  const std::lock_guard lock(record_->mutex);
  return static_cast<int>(record_->exits.size());
}

void Spawned::stop(StopPlan plan) {
  call([&](ChildProcess& child) { child.stop(std::move(plan)); });
}

void Spawned::kill() {
  call([](ChildProcess& child) { child.kill(); });
}

void Spawned::forget() {
  on_runtime(*runtime_, [&] { child_.reset(); });
}

void Spawned::call(const std::function<void(ChildProcess&)>& task) {
  on_runtime(*runtime_, [&] {
    if (child_) task(*child_);
  });
}

void wait_until(const char* what, const std::function<bool()>& condition) {
  const auto limit = std::chrono::steady_clock::now() + hang_guard;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > limit) {
      throw std::runtime_error(std::string("hung while waiting until ") + what);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

// The letter after the name, which may itself hold anything; 0 where the process is gone.
static char process_state(std::int64_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto name_end = text.rfind(") ");
  return name_end == std::string::npos ? 0 : text[name_end + 2];
}

bool has_ended(std::int64_t pid) {
  const char state = process_state(pid);
  return state == 0 || state == 'Z' || state == 'X';
}

bool is_stopped(std::int64_t pid) {
  return process_state(pid) == 'T';
}

Belongings belongings(const std::shared_ptr<Runtime>& runtime) {
  static_cast<void>(Spawned(probe({"exit", "0"}), SystemCalls::real(), runtime).wait_for_exit());
  Belongings found;
  on_runtime(*runtime, [&found] {
    for (int number = 0; number < 4096; ++number) {
      if (::fcntl(number, F_GETFD) >= 0) found.descriptors.push_back(number);
    }
    for (const auto& task : fs::directory_iterator("/proc/self/task")) {
      std::ifstream file(task.path() / "children");
      found.children.insert(found.children.end(), std::istream_iterator<std::int64_t>(file), {});
    }
  });
  std::sort(found.children.begin(), found.children.end());
  return found;
}

Belongings settled_belongings(const std::shared_ptr<Runtime>& runtime) {
  Belongings found;
  wait_until("no child is left", [&] {
    found = belongings(runtime);
    return found.children.empty();
  });
  return found;
}

std::ostream& operator<<(std::ostream& stream, const Belongings& belongings) {
  stream << "descriptors";
  for (const int number : belongings.descriptors)
    stream << ' ' << number;
  stream << ", children";
  for (const auto pid : belongings.children)
    stream << ' ' << pid;
  return stream;
}

}  // namespace llamavisor::process::testing
