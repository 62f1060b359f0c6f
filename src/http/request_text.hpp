/// \file
/// The head of one HTTP request, as text.
#pragma once

#include "http/exchange.hpp"

#include <string>

namespace llamavisor::http {

/// The request's head with the blank line after it; the body follows. The connection is for this
/// request alone. Throws `Error` (`internal`) where method, target or key hold a byte that would
/// end their line or word: such a request would be another one than was meant.
std::string request_head(const Request& request);

}  // namespace llamavisor::http
