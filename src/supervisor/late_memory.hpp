/// \file
/// Memory of a GPU that comes back a while after its process has ended.
#pragma once

#include <chrono>
#include <optional>

namespace llamavisor::supervisor {

/// What is known when a load has found too little memory on a device.
struct MemoryShortage {
  using Time = std::chrono::steady_clock::time_point;

  Time spawned_at{};                ///< of the load: it saw the memory at some time after this
  Time now{};                       ///< it has ended
  std::optional<Time> departure{};  ///< when another server of ours last left that device
};

/// How long to wait before the load is tried again; empty where the shortage is not a passing one.
///
/// It may be one when the load began less than `limit` after the departure. The next try comes when
/// as much time again has passed as since the departure (100 ms at least), so that the waits
/// double; the last one comes when the limit has passed. `limit` 0 = nothing is waited for.
std::optional<std::chrono::milliseconds> wait_for_memory(const MemoryShortage& shortage,
                                                         std::chrono::milliseconds limit);

}  // namespace llamavisor::supervisor
