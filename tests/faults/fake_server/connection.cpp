#include "connection.hpp"

#include "words.hpp"

#include <linux/sockios.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <utility>

namespace fake {
namespace {

std::string_view reason(int status) {
  switch (status) {
    case 200: return "OK";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 404: return "Not Found";
    case 500: return "Internal Server Error";
    case 501: return "Not Implemented";
    case 503: return "Service Unavailable";
    default: return "Unknown";
  }
}

std::string lower_case(std::string text) {
  for (auto& c : text)
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

bool parse_head(std::string_view head, Request& request) {
  const auto lines = split(head, '\n');
  auto first = split(lines.front(), ' ');
  if (first.size() < 3) return false;
  request.method = first[0];
  const auto question = first[1].find('?');
  request.path = first[1].substr(0, question);
  request.query = question == std::string::npos ? "" : first[1].substr(question + 1);
  for (std::size_t at = 1; at < lines.size(); ++at) {
    const auto colon = lines[at].find(':');
    if (colon == std::string::npos) continue;
    auto value = lines[at].substr(colon + 1);
    value.erase(0, value.find_first_not_of(" \t"));
    value.erase(value.find_last_not_of(" \t\r") + 1);
    request.headers[lower_case(lines[at].substr(0, colon))] = value;
  }
  return true;
}

}  // namespace

std::string Request::header(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? "" : found->second;
}

Connection::Connection(int descriptor, const Script& script)
    : descriptor_(descriptor), script_(script) {}

Connection::~Connection() {
  if (byte_left_unread_ && !resetting_) take_unread_byte();
  ::close(descriptor_);
}

void Connection::take_unread_byte() {
  char byte = 0;
  byte_left_unread_ = ::recv(descriptor_, &byte, 1, MSG_DONTWAIT) < 0;
}

/// A Unix socket has no RST, but its peer gets ECONNRESET when something is left unread at the
/// close. So where the script wants a reset, the last byte of what came is looked at and left.
bool Connection::fill() {
  const bool leave_byte = script_.rst_after >= 0;
  if (byte_left_unread_) take_unread_byte();
  std::array<char, 1 << 16> block;
  ssize_t count = 0;
  do {
    count = ::recv(descriptor_, block.data(), block.size(), leave_byte ? MSG_PEEK : 0);
  } while (count < 0 && errno == EINTR);
  if (count <= 0) return false;
  const auto size = static_cast<std::size_t>(count);
  buffer_.append(block.data(), size);
  if (leave_byte) {
    byte_left_unread_ = true;
    if (size > 1 && ::recv(descriptor_, block.data(), size - 1, 0) != count - 1) return false;
  }
  return true;
}

bool Connection::read(Request& request) {
  request = {};
  std::size_t end = 0;
  while ((end = buffer_.find("\r\n\r\n")) == std::string::npos) {
    if (buffer_.size() > (1 << 16) || !fill()) return false;
  }
  if (!parse_head(std::string_view(buffer_).substr(0, end), request)) return false;
  buffer_.erase(0, end + 4);
  const auto length = request.header("content-length");
  const auto size = length.empty() ? 0 : static_cast<std::size_t>(to_long(length));
  while (buffer_.size() < size) {
    if (!fill()) return false;
  }
  request.body = buffer_.substr(0, size);
  buffer_.erase(0, size);
  wants_close_ = lower_case(request.header("connection")) == "close";
  return true;
}

bool Connection::gone() const {
  pollfd entry{descriptor_, POLLRDHUP, 0};
  return ::poll(&entry, 1, 0) > 0 && (entry.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

void Connection::answer(int status, std::string_view body, std::string_view content_type) {
  if (status != 200) wants_close_ = true;
  std::string text = "HTTP/1.1 " + std::to_string(status) + " ";
  text.append(reason(status)).append("\r\nServer: llama.cpp\r\n");
  text.append("Access-Control-Allow-Origin: \r\nContent-Type: ").append(content_type);
  text += "\r\nContent-Length: " + std::to_string(body.size());
  text += wants_close_ ? "\r\nConnection: close" : "\r\nKeep-Alive: timeout=5, max=100";
  text.append("\r\n\r\n").append(body);
  send(text);
}

void Connection::begin_stream() {
  std::string text = "HTTP/1.1 200 OK\r\nServer: llama.cpp\r\nAccess-Control-Allow-Origin: \r\n";
  text += "X-Accel-Buffering: no\r\nContent-Type: " + script_.content_type;
  text += "\r\nTransfer-Encoding: chunked\r\n";
  text += wants_close_ ? "Connection: close\r\n\r\n" : "Keep-Alive: timeout=5, max=100\r\n\r\n";
  send(text);
}

void Connection::chunk(std::string_view data) {
  char size[20];
  const int length = std::snprintf(size, sizeof size, "%zx\r\n", data.size());
  glued_.append(size, static_cast<std::size_t>(length)).append(data).append("\r\n");
  if (++chunks_glued_ >= script_.glue) flush();
}

void Connection::end_stream() {
  glued_ += "0\r\n\r\n";
  flush();
}

void Connection::flush() {
  const auto text = std::exchange(glued_, {});
  chunks_glued_ = 0;
  if (!text.empty()) send(text);
}

void Connection::reset() {
  const linger at_once{1, 0};
  ::setsockopt(descriptor_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  resetting_ = true;
  wants_close_ = true;
}

/// Cuts what is sent at the script's places. Each piece is waited for until the peer has read it:
/// else the kernel would put them together again.
void Connection::send(std::string_view bytes) {
  if (script_.cuts.empty()) return send_piece(bytes);
  while (!bytes.empty()) {
    const bool any_left = script_.cut_every || next_cut_ < script_.cuts.size();
    const auto size = any_left ? std::max<std::size_t>(1, script_.cuts[next_cut_]) : bytes.size();
    if (any_left && !script_.cut_every) ++next_cut_;
    send_piece(bytes.substr(0, size));
    bytes.remove_prefix(std::min(size, bytes.size()));
    wait_until_read();
  }
}

void Connection::send_piece(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto count = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) throw Gone();
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

void Connection::wait_until_read() const {
  for (int waited = 0; waited < 200 && !gone(); ++waited) {
    int unread = 0;
    if (::ioctl(descriptor_, SIOCOUTQ, &unread) != 0 || unread == 0) return;
    ::usleep(50);
  }
}

}  // namespace fake
