// Where the server listens.
#pragma once

#include <string>

namespace fake {

/// A listening socket; `address` is how the log names it. -1 when it could not be bound.
struct Listener {
  int descriptor = -1;
  std::string address;
};

/// A host that ends in ".sock" is a Unix socket, unless the build is too old for that.
Listener listen_on(const std::string& host, int port, bool unix_sockets);

}  // namespace fake
