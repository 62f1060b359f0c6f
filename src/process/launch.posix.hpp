/// \file
/// From a request to a running program: clone, a few steps, execve.
#pragma once

#include "process/descriptor.hpp"
#include "process/spawn_request.hpp"
#include "process/system_calls.hpp"

namespace llamavisor::process {

/// What becomes 0, 1 and 2 in the child. All are 3 or above, and close-on-exec.
struct Streams {
  int in = -1, out = -1, error = -1;
};

struct Launched {
  pid_t pid = -1;
  Descriptor pidfd;
};

/// Starts the program and returns once it runs: `SpawnError::step` is empty then. A failure has
/// left nothing behind, a zombie neither.
Launched launch(const SpawnRequest& request, const Streams& streams, SystemCalls& calls,
                SpawnError& error);

/// Kills a program that has just been started, and reaps it.
void abort_launch(const Launched& launched, SystemCalls& calls);

}  // namespace llamavisor::process
