#include "server_story.hpp"

#include <boost/json.hpp>

#include <fstream>
#include <string>
#include <thread>

namespace llamavisor::testing {

namespace json = boost::json;

std::vector<StoryEvent> ServerStory::events(std::string_view kind) const {
  std::vector<StoryEvent> found;
  std::ifstream stream(file_);
  for (std::string line; std::getline(stream, line);) {
    if (stream.eof()) break;  // a line without its end is still being written
    auto event = json::parse(line).as_object();
    if (kind.empty() || event.at("event").as_string() == kind) found.push_back(std::move(event));
  }
  return found;
}

std::vector<StoryEvent> ServerStory::completions(int generation) const {
  std::vector<StoryEvent> found;
  for (auto& event : events("request")) {
    if (event.at("path").as_string() != "/completion" || !event.contains("id")) continue;
    if (generation != 0 && event.at("generation").to_number<int>() != generation) continue;
    found.push_back(std::move(event));
  }
  return found;
}

std::vector<StoryEvent> ServerStory::wait_for(std::string_view kind, std::size_t count,
                                              std::chrono::milliseconds guard) const {
  std::vector<StoryEvent> found;
  wait_until(
      [&] {
        found = events(kind);
        return found.size() >= count;
      },
      guard);
  return found;
}

bool is_alive(std::int64_t pid) {
  std::ifstream stream("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  if (!std::getline(stream, text)) return false;
  const auto end = text.rfind(')');
  return end != std::string::npos && end + 2 < text.size() && text[end + 2] != 'Z';
}

bool wait_until(const std::function<bool()>& condition, std::chrono::milliseconds guard) {
  const auto end = std::chrono::steady_clock::now() + guard;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

}  // namespace llamavisor::testing
