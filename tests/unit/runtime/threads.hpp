/// \file
/// Waiting for our threads, from the test's own.
#pragma once

#include "runtime/runtime.hpp"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

namespace llamavisor::testing {

/// Long enough for any machine: a test that runs into it has hung.
inline constexpr std::chrono::seconds hang_guard{60};

template <typename Result>
Result get(std::future<Result> future) {
  if (future.wait_for(hang_guard) != std::future_status::ready) throw std::runtime_error("hung");
  return future.get();
}

/// Runs a task on the runtime thread, and waits for it.
inline void on_runtime(Runtime& runtime, const std::function<void()>& task) {
  const auto done = std::make_shared<std::promise<void>>();
  runtime.post([&task, done] {
    task();
    done->set_value();
  });
  get(done->get_future());
}

/// How many threads of this process have the name.
inline int threads_named(std::string_view name) {
  int count = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream file(task.path() / "comm");
    std::string line;
    if (std::getline(file, line) && line == name) ++count;
  }
  return count;
}

inline void wait_until(const std::function<bool()>& condition) {
  const auto limit = std::chrono::steady_clock::now() + hang_guard;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > limit) throw std::runtime_error("hung");
    std::this_thread::yield();
  }
}

}  // namespace llamavisor::testing
