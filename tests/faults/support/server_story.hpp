// Reads what fake servers tell of themselves.
#pragma once

#include <boost/json/object.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>
#include <vector>

namespace llamavisor::testing {

using StoryEvent = boost::json::object;

/// The file that FAKE_SERVER_LOG names. See ../fake_server/README.md for the events.
class ServerStory {
 public:
  explicit ServerStory(std::filesystem::path file) : file_(std::move(file)) {}

  const std::filesystem::path& file() const { return file_; }

  /// All events so far, or those of one kind, in order.
  std::vector<StoryEvent> events(std::string_view kind = {}) const;

  /// Completions that servers have accepted; `generation` 0 = of all.
  std::vector<StoryEvent> completions(int generation = 0) const;

  /// Waits until there are so many events of a kind, and gives them back; fewer when the guard
  /// against hanging has struck, so the caller checks the size.
  std::vector<StoryEvent> wait_for(
      std::string_view kind, std::size_t count = 1,
      std::chrono::milliseconds guard = std::chrono::seconds(20)) const;

 private:
  std::filesystem::path file_;
};

/// Whether a process is there and no zombie.
bool is_alive(std::int64_t pid);

/// Waits for a condition; false when the guard against hanging has struck.
bool wait_until(const std::function<bool()>& condition,
                std::chrono::milliseconds guard = std::chrono::seconds(20));

}  // namespace llamavisor::testing
