/// \file
/// One HTTP request and its answer, over a Unix socket or TCP on the loopback.
#pragma once

#include "runtime/runtime.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace llamavisor::http {

/// Where a server listens: a Unix socket's path, or a port on 127.0.0.1. No proxy, no name lookup.
struct Endpoint {
  std::string unix_path{};  ///< used when not empty
  std::uint16_t port = 0;
};

struct Request {
  std::string method{"GET"};
  std::string target{"/"};
  std::string body{};        ///< JSON; sent when not empty
  std::string bearer_key{};  ///< Authorization: Bearer; left out when empty
};

/// How an exchange ended.
enum class End {
  complete,         ///< the answer came whole
  refused,          ///< nobody listens there: connection refused, no such socket
  connection_lost,  ///< reset, end of file or an error in the middle
  malformed,        ///< not HTTP
};

/// One connection, one request. All members and call-backs on the runtime thread; no call-back
/// comes from within `start`, `resume_reading` or `abort`, and none after `abort`. Any member may
/// be called from a call-back. A dropped handle does not end the exchange, unless it is paused.
///
/// There is no time limit here: who knows what the answer is worth sets one, and aborts.
class Exchange {
 public:
  struct Handlers {
    std::function<void(int status, std::string_view content_type)> on_head{};
    std::function<void(std::string_view bytes)> on_body{};           ///< as it comes
    std::function<void(End end, std::string_view detail)> on_end{};  ///< once, last
  };

  /// Throws `Error` (`internal`) for a request that cannot be written as HTTP.
  static std::shared_ptr<Exchange> start(std::shared_ptr<Runtime> runtime, const Endpoint& endpoint,
                                         const Request& request, Handlers handlers);

  /// Closes the connection: the server cancels what it does for it.
  virtual void abort() = 0;

  /// Stops and takes up reading: bytes stay in the socket, and the server has to wait. Paused in
  /// `on_body`, the rest of the piece that was just read is still handed over (16 KiB at most); the
  /// end is not reported while paused.
  virtual void pause_reading() = 0;
  virtual void resume_reading() = 0;

  virtual ~Exchange() = default;
};

}  // namespace llamavisor::http
