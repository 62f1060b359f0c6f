/// \file
/// Small files that llamavisor keeps for a user.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

namespace llamavisor::device {

/// `$variable/llamavisor` where that is an absolute path, else `~/below_home/llamavisor`: as the
/// XDG base directory specification has it.
std::filesystem::path user_folder(const char* variable, std::string_view below_home);

/// What a file holds, 1 MiB at most; empty where it cannot be read.
std::string read_state_file(const std::filesystem::path& file);

/// Makes a file hold this, down to the disk, with the folders above it: a full one may show no
/// sooner. A reader sees the old file or the new one; on an error the old one stays.
std::error_code replace_file(const std::filesystem::path& file, std::string_view content);

}  // namespace llamavisor::device
