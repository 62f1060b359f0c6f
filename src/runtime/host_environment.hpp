/// \file
/// The environment of the host process.
#pragma once

#include <string>
#include <vector>

namespace llamavisor {

/// "NAME=value" of each variable, as they are now. Not while another thread changes them, as with
/// getenv().
std::vector<std::string> host_environment();

}  // namespace llamavisor
