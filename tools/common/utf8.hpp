/// \file
/// Text of unknown origin, fit for JSON.
#pragma once

#include <string>
#include <string_view>

namespace llamavisor::cli {

/// U+FFFD in the place of each byte that is no part of a well-formed character: names of files, and
/// of models, may hold any bytes.
std::string to_utf8(std::string_view bytes);

}  // namespace llamavisor::cli
