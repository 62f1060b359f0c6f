#include "http/connect.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

namespace llamavisor::http {
namespace {

using State = Connecting::State;

struct Address {
  sockaddr_storage bytes{};
  socklen_t size = 0;
};

Address address_of(const Endpoint& endpoint) {
  Address address;
  if (endpoint.unix_path.empty()) {
    sockaddr_in in{};
    in.sin_family = AF_INET;
    in.sin_port = htons(endpoint.port);
    in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    std::memcpy(&address.bytes, &in, sizeof in);
    address.size = sizeof in;
  } else {
    sockaddr_un un{};
    un.sun_family = AF_UNIX;
    endpoint.unix_path.copy(un.sun_path, sizeof un.sun_path - 1);
    std::memcpy(&address.bytes, &un, sizeof un);
    address.size =
        static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + endpoint.unix_path.size() + 1);
  }
  return address;
}

std::string why_no_address(const Endpoint& endpoint) {
  constexpr std::size_t longest = sizeof(sockaddr_un{}.sun_path) - 1;
  if (endpoint.unix_path.empty()) return endpoint.port == 0 ? "no address was given" : "";
  if (endpoint.unix_path.find('\0') != std::string::npos) return "the socket's path has a NUL";
  if (endpoint.unix_path.size() <= longest) return "";
  return "the socket's path has " + std::to_string(endpoint.unix_path.size()) +
         " bytes, and at most " + std::to_string(longest) + " are possible: " + endpoint.unix_path;
}

/// A Unix socket says EAGAIN, at once, where TCP would wait for a place in the server's queue.
/// asio takes it for a connection in progress and then for a made one.
State state_of(int error, int family) {
  if (error == EINPROGRESS || error == EINTR) return State::in_progress;
  if (error == EAGAIN && family == AF_UNIX) return State::queue_full;
  return error == EAGAIN ? State::failed : State::refused;
}

}  // namespace

Connecting start_connect(const Endpoint& endpoint) {
  const int family = endpoint.unix_path.empty() ? AF_INET : AF_UNIX;
  if (auto why = why_no_address(endpoint); !why.empty()) {
    return {.state = State::refused, .family = family, .detail = std::move(why)};
  }
  const auto failed = [&](State state, int error) {
    return Connecting{.state = state,
                      .family = family,
                      .detail = "cannot connect to " + to_string(endpoint) + ": " +
                                std::generic_category().message(error)};
  };
  const int fd = ::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return failed(State::failed, errno);
  const Address address = address_of(endpoint);
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&address.bytes), address.size) == 0) {
    return {.state = State::connected, .fd = fd, .family = family};
  }
  const int error = errno;
  const State state = state_of(error, family);
  if (state == State::in_progress) {
    return {.state = state, .fd = fd, .family = family};
  }
  ::close(fd);
  return failed(state, error);
}

std::error_code outcome_of_connect(int fd) {
  int error = 0;
  socklen_t size = sizeof error;
  if (::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
  return {error, std::generic_category()};
}

bool connected_to_itself(int fd) {
  sockaddr_in here{};
  sockaddr_in there{};
  socklen_t here_size = sizeof here;
  socklen_t there_size = sizeof there;
  return ::getsockname(fd, reinterpret_cast<sockaddr*>(&here), &here_size) == 0 &&
         ::getpeername(fd, reinterpret_cast<sockaddr*>(&there), &there_size) == 0 &&
         here.sin_family == AF_INET && there.sin_family == AF_INET &&
         here.sin_port == there.sin_port && here.sin_addr.s_addr == there.sin_addr.s_addr;
}

std::string to_string(const Endpoint& endpoint) {
  return endpoint.unix_path.empty() ? "127.0.0.1:" + std::to_string(endpoint.port)
                                    : endpoint.unix_path;
}

}  // namespace llamavisor::http
