/// \file
/// The first step of a connection: a socket of our own making, connecting.
#pragma once

#include "http/exchange.hpp"

#include <string>
#include <system_error>

namespace llamavisor::http {

struct Connecting {
  enum class State {
    connected,
    in_progress,  ///< writable when done; then ask `outcome_of_connect`
    queue_full,   ///< the server lives, but its queue of connections is full: try again
    refused,
    failed,  ///< no fault of the server: such as no descriptor left
  };

  State state = State::failed;
  int fd = -1;           ///< the caller's, where connected or in progress; not blocking
  int family = 0;        ///< AF_...
  std::string detail{};  ///< what went wrong
};

/// Never blocks. The descriptor is closed by exec: a child of the host that kept a copy of it
/// would keep the server generating after we have closed ours.
Connecting start_connect(const Endpoint& endpoint);

/// How a connection that was in progress ended.
std::error_code outcome_of_connect(int fd);

/// Whether both ends are this one socket. Where nobody listens on a port of the ephemeral range,
/// TCP now and then gives a connecting socket that very port, and it meets itself.
bool connected_to_itself(int fd);

/// "/run/x.sock" or "127.0.0.1:80".
std::string to_string(const Endpoint& endpoint);

}  // namespace llamavisor::http
