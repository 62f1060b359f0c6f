// What the benches on real servers have in common: how servers are started.
#pragma once

#include <llamavisor/load_options.hpp>

#include <string>

namespace llamavisor::bench {

/// For a device; no better device is tried again by itself, so that each fault counts once. From
/// the environment: BENCH_THREADS sets the threads of the CPU engine,
/// BENCH_CHILD_ENVIRONMENT="NAME=value" adds a variable to the servers', BENCH_DEFAULT_FLAGS leaves
/// out `-fa off`.
LoadOptions real_server_options(const std::string& device);

}  // namespace llamavisor::bench
