/// \file
/// An exchange whose answer is wanted whole.
#pragma once

#include "http/exchange.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

namespace llamavisor::http {

struct Collected {
  End end = End::connection_lost;
  int status = 0;  ///< 0 where no head came
  std::string content_type{};
  std::string body{};    ///< what came of it
  std::string detail{};  ///< what went wrong, unless complete
};

/// Starts an exchange and calls back once, on the runtime thread, when it has ended; never from
/// within this call, and not after `abort()` of what is returned. An answer longer than `max_body`
/// bytes ends as `malformed`. The exchange goes on when its handle is dropped.
std::shared_ptr<Exchange> collect(std::shared_ptr<Runtime> runtime, const Endpoint& endpoint,
                                  const Request& request, std::function<void(Collected)> on_done,
                                  std::size_t max_body = 64u << 20);

}  // namespace llamavisor::http
