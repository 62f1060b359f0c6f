/// \file
/// Checks of `LoadOptions`, before anything is started.
#pragma once

#include <llamavisor/load_options.hpp>

namespace llamavisor::backend {

/// Throws `Error`: `invalid_option` that names the member and its range, or
/// `refused_server_argument`.
void check_load_options(const LoadOptions& options);

}  // namespace llamavisor::backend
