/// \file
/// What a user hands in as a file.
#pragma once

#include <filesystem>
#include <string>

namespace llamavisor::cli {

class Interrupts;

/// All of standard input, byte for byte. Throws `std::system_error`, or `Error` (`cancelled`) when
/// a signal comes first.
std::string read_standard_input(const Interrupts& interrupts);

/// All of a file, byte for byte. Throws `Error` (`invalid_option`) that names `option`.
std::string read_file(const std::filesystem::path& file, const char* option);

}  // namespace llamavisor::cli
