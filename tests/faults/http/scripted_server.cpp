#include "scripted_server.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <system_error>

namespace llamavisor::http::test {
namespace {

constexpr int hang_guard_ms = 30'000;

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

void wait_for(int fd, short events) {
  pollfd item{fd, events, 0};
  int ready = 0;
  do {
    ready = ::poll(&item, 1, hang_guard_ms);
  } while (ready < 0 && errno == EINTR);
  if (ready < 0) fail("poll");
  if (ready == 0) throw std::runtime_error("the scripted server waits for its client in vain");
}

void bind_and_listen(int fd, const void* address, socklen_t size) {
  if (::bind(fd, static_cast<const sockaddr*>(address), size) != 0) fail("bind");
  // A queue of one: it can be filled.
  if (::listen(fd, 0) != 0) fail("listen");
}

sockaddr_un unix_address(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) throw std::runtime_error("too long a path");
  path.copy(address.sun_path, path.size());
  return address;
}

}  // namespace

std::string make_folder() {
  std::string folder = std::filesystem::temp_directory_path() / "lv-http-XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) fail("mkdtemp");
  return folder;
}

std::string Peer::read_some() {
  std::array<char, 65536> buffer;
  wait_for(fd_, POLLIN);
  const auto size = ::recv(fd_, buffer.data(), buffer.size(), 0);
  if (size < 0 && errno == ECONNRESET) return {};
  if (size < 0) fail("recv");
  return {buffer.data(), static_cast<std::size_t>(size)};
}

std::string Peer::read_request() {
  std::string request;
  std::size_t whole = std::string::npos;
  while (request.size() < whole) {
    const auto more = read_some();
    if (more.empty()) throw std::runtime_error("the request ended early: " + request);
    request += more;
    const auto head_end = request.find("\r\n\r\n");
    if (whole != std::string::npos || head_end == std::string::npos) continue;
    const std::string_view field = "\r\nContent-Length: ";
    const auto length = request.find(field);
    whole = head_end + 4;
    if (length < head_end) whole += std::stoul(request.substr(length + field.size()));
  }
  return request;
}

bool Peer::write(std::string_view bytes) {
  while (!bytes.empty()) {
    wait_for(fd_, POLLOUT);
    const auto size = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (size < 0 && (errno == EPIPE || errno == ECONNRESET)) return false;
    if (size < 0 && errno != EAGAIN) fail("send");
    if (size > 0) bytes.remove_prefix(static_cast<std::size_t>(size));
  }
  return true;
}

bool Peer::write_byte_by_byte(std::string_view bytes) {
  for (const char byte : bytes) {
    if (!write({&byte, 1})) return false;
  }
  return true;
}

std::size_t Peer::fill(std::string_view pattern) {
  std::size_t total = 0;
  for (;;) {
    const auto rest = pattern.substr(total % pattern.size());
    const auto size = ::send(fd_, rest.data(), rest.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (size < 0 && errno == EAGAIN) return total;
    if (size < 0) fail("send");
    total += static_cast<std::size_t>(size);
  }
}

bool Peer::writable_now() const {
  pollfd item{fd_, POLLOUT, 0};
  return ::poll(&item, 1, 0) == 1;
}

void Peer::wait_until_closed() {
  while (!read_some().empty()) {
  }
}

void Peer::close() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

void Peer::reset() {
  const linger at_once{1, 0};
  if (::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once) != 0) fail("linger");
  close();
}

ScriptedServer::ScriptedServer(Transport transport) {
  const int family = transport == Transport::tcp ? AF_INET : AF_UNIX;
  listener_ = ::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listener_ < 0) fail("socket");
  if (transport == Transport::tcp) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    bind_and_listen(listener_, &address, sizeof address);
    socklen_t size = sizeof address;
    if (::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
      fail("getsockname");
    }
    endpoint_.port = ntohs(address.sin_port);
  } else {
    folder_ = make_folder();
    endpoint_.unix_path = folder_ + "/server.sock";
    const auto address = unix_address(endpoint_.unix_path);
    bind_and_listen(listener_, &address, sizeof address);
  }
}

ScriptedServer::~ScriptedServer() {
  if (thread_.joinable()) thread_.join();
  stop_listening();
  if (!folder_.empty()) std::filesystem::remove_all(folder_);
}

void ScriptedServer::serve(Script script) {
  thread_ = std::thread([this, script = std::move(script)] {
    try {
      for (; queued_ > 0; --queued_)
        ::close(accept_client());
      Peer peer(accept_client());
      script(peer);
    } catch (...) {
      error_ = std::current_exception();
    }
  });
}

void ScriptedServer::finish() {
  thread_.join();
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void ScriptedServer::fill_queue() {
  const auto address = unix_address(endpoint_.unix_path);
  for (;;) {
    const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) fail("socket");
    const int result = ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address);
    const int error = errno;
    ::close(fd);  // its place in the queue stays taken
    if (result == 0) {
      ++queued_;
    } else if (error == EAGAIN) {
      return;
    } else {
      fail("connect");
    }
  }
}

void ScriptedServer::stop_listening() {
  if (listener_ >= 0) ::close(listener_);
  listener_ = -1;
}

int ScriptedServer::accept_client() {
  wait_for(listener_, POLLIN);
  const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  if (fd < 0) fail("accept");
  return fd;
}

}  // namespace llamavisor::http::test
