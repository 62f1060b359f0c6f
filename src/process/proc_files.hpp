/// \file
/// What /proc tells of a process. The folder is a parameter: a test brings its own.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>

namespace llamavisor::process {

/// Bytes of memory that the process holds; 0 where it is gone.
std::uint64_t resident_memory(const std::filesystem::path& proc, std::int64_t pid);

/// What the processes of a group have used of all processors together since they began, in user and
/// kernel mode; to a clock tick (usually 10 ms). Zero where there are none.
std::chrono::milliseconds processor_time(const std::filesystem::path& proc, std::int64_t group);

/// Whether a thread of the processes of a group runs or waits for a processor at this moment.
bool wants_processor(const std::filesystem::path& proc, std::int64_t group);

/// The TCP port on which the process itself listens on 127.0.0.1.
std::optional<std::uint16_t> listening_tcp_port(const std::filesystem::path& proc,
                                                std::int64_t pid);

}  // namespace llamavisor::process
