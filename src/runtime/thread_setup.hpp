/// \file
/// How a thread of ours is started inside somebody else's process.
#pragma once

#include <functional>
#include <thread>

namespace llamavisor {

/// A thread with a name (15 characters at most) on which no handler of the host runs: all signals
/// are blocked but those of a fault in the thread itself, which a crash reporter may want.
/// Throws `std::system_error` where the system has no thread left.
std::thread start_thread(const char* name, std::function<void()> body);

/// Tells processes apart after fork(): a number of this process.
long current_process() noexcept;

}  // namespace llamavisor
