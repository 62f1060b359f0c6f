#include "listener.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>

namespace fake {
namespace {

Listener listen_on_unix(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return {};
  std::memcpy(address.sun_path, path.data(), path.size());
  const int descriptor = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (::bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(descriptor, 512) != 0) {
    ::close(descriptor);
    return {};
  }
  return {descriptor, "unix://" + path};
}

Listener listen_on_tcp(const std::string& host, int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  if (::inet_pton(AF_INET, host.c_str(), &address.sin_addr) != 1) return {};
  const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int yes = 1;
  ::setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  socklen_t size = sizeof address;
  if (::bind(descriptor, reinterpret_cast<const sockaddr*>(&address), size) != 0 ||
      ::listen(descriptor, 512) != 0 ||
      ::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    ::close(descriptor);
    return {};
  }
  return {descriptor, "http://" + host + ":" + std::to_string(ntohs(address.sin_port))};
}

}  // namespace

Listener listen_on(const std::string& host, int port, bool unix_sockets) {
  const bool is_path = host.ends_with(".sock");
  if (is_path && !unix_sockets) return {};
  return is_path ? listen_on_unix(host) : listen_on_tcp(host, port);
}

}  // namespace fake
