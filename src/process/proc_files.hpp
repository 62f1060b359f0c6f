/// \file
/// What /proc tells of a process. The folder is a parameter: a test brings its own.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace llamavisor::process {

/// Bytes of memory that the process holds; 0 where it is gone.
std::uint64_t resident_memory(const std::filesystem::path& proc, std::int64_t pid);

/// The TCP port on which the process itself listens on 127.0.0.1.
std::optional<std::uint16_t> listening_tcp_port(const std::filesystem::path& proc,
                                                std::int64_t pid);

}  // namespace llamavisor::process
