/// \file
/// Unguessable text: keys and nonces.
#pragma once

#include <string>

namespace llamavisor::supervisor {

/// 32 hexadecimal digits from the kernel's random source.
std::string random_text();

}  // namespace llamavisor::supervisor
