// The least that a client can do: one thread, epoll, and no parsing beyond finding the first token
// and the final event in the bytes. What the library costs is measured against it.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace llamavisor::bench {

using Clock = std::chrono::steady_clock;

/// When one answer was asked for, began and ended.
struct StreamTimes {
  Clock::time_point asked{};
  Clock::time_point first_token{};
  Clock::time_point end{};
};

/// Sends the same request on so many connections to a Unix socket at once, and reads each answer
/// to its final event. Throws where an answer is not a stream of so many tokens.
std::vector<StreamTimes> ask_raw(const std::string& socket, const std::string& request, int streams,
                                 int tokens);

}  // namespace llamavisor::bench
