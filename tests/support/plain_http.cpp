#include "plain_http.hpp"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

namespace llamavisor::test {

namespace {

class Socket {
 public:
  explicit Socket(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) throw std::runtime_error("socket path too long");
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    descriptor_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const timeval guard{120, 0};
    ::setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &guard, sizeof guard);
    open_ = ::connect(descriptor_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  ~Socket() { ::close(descriptor_); }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  bool is_open() const { return open_; }

  void send(std::string_view text) {
    while (!text.empty()) {
      const auto count = ::send(descriptor_, text.data(), text.size(), MSG_NOSIGNAL);
      if (count <= 0) return;
      text.remove_prefix(static_cast<std::size_t>(count));
    }
  }

  std::string receive_all() {
    std::string text;
    char block[16384];
    while (true) {
      const auto count = ::recv(descriptor_, block, sizeof block, 0);
      if (count <= 0) return text;
      text.append(block, static_cast<std::size_t>(count));
    }
  }

 private:
  int descriptor_ = -1;
  bool open_ = false;
};

std::string without_chunks(std::string_view text) {
  std::string body;
  while (!text.empty()) {
    const auto line = text.find("\r\n");
    if (line == std::string_view::npos) break;
    const auto size = std::strtoul(std::string(text.substr(0, line)).c_str(), nullptr, 16);
    if (size == 0 || line + 2 + size > text.size()) break;
    body += text.substr(line + 2, size);
    text.remove_prefix(std::min(text.size(), line + 2 + size + 2));
  }
  return body;
}

}  // namespace

HttpAnswer http_request(const std::string& socket_path, const std::string& method,
                        const std::string& target, const std::string& body,
                        const std::string& key) {
  Socket socket(socket_path);
  if (!socket.is_open()) return {};
  std::string head =
      method + " " + target + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n";
  if (!key.empty()) head += "Authorization: Bearer " + key + "\r\n";
  if (!body.empty()) {
    head +=
        "Content-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) + "\r\n";
  }
  socket.send(head + "\r\n" + body);
  const auto text = socket.receive_all();
  const auto end = text.find("\r\n\r\n");
  if (end == std::string::npos) return {};
  HttpAnswer answer{.status = std::atoi(text.c_str() + text.find(' ')),
                    .body = text.substr(end + 4)};
  if (text.substr(0, end).find("chunked") != std::string::npos) {
    answer.body = without_chunks(answer.body);
  }
  return answer;
}

}  // namespace llamavisor::test
