#include "raw_client.hpp"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <system_error>

namespace llamavisor::bench {

namespace {

constexpr std::string_view first_mark = "\"tokens_predicted\":1,";
constexpr std::string_view end_mark = "\"stop\":true";

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {
    if (fd_ < 0) fail("cannot open");
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { ::close(fd_); }
  operator int() const { return fd_; }

 private:
  int fd_;
};

/// One connection. Marks are looked for across the seams of reads.
class Connection {
 public:
  Connection(const std::string& path, const std::string& request)
      : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof(address.sun_path) - 1);
    answer_.asked = Clock::now();
    if (::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
      fail("connect");
    }
    if (::send(socket_, request.data(), request.size(), MSG_NOSIGNAL) !=
        static_cast<ssize_t>(request.size())) {
      fail("send");
    }
    ::fcntl(socket_, F_SETFL, O_NONBLOCK);
  }

  int socket() const { return socket_; }
  const StreamTimes& answer() const { return answer_; }
  bool ended() const { return answer_.end != Clock::time_point{}; }

  void read(int tokens) {
    std::array<char, 16 * 1024> buffer;
    const auto size = ::recv(socket_, buffer.data(), buffer.size(), 0);
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (size < 0) fail("recv");
    seen_.append(buffer.data(), static_cast<std::size_t>(size));
    if (answer_.first_token == Clock::time_point{} && has(first_mark)) {
      answer_.first_token = Clock::now();
    }
    const auto end = seen_.find(end_mark);
    if (end != std::string::npos) {
      answer_.end = Clock::now();
      const bool whole = seen_.find("\"tokens_predicted\":" + std::to_string(tokens)) != seen_.npos;
      if (!whole || answer_.first_token == Clock::time_point{}) {
        throw std::runtime_error("not the answer that was asked for: " + seen_);
      }
      return;
    }
    if (size == 0) throw std::runtime_error("the answer ended early: " + seen_);
    if (seen_.size() > 512) seen_.erase(0, seen_.size() - 512);
  }

 private:
  bool has(std::string_view mark) const { return seen_.find(mark) != std::string::npos; }

  Descriptor socket_;
  StreamTimes answer_;
  std::string seen_;
};

}  // namespace

std::vector<StreamTimes> ask_raw(const std::string& socket, const std::string& request, int streams,
                                 int tokens) {
  const Descriptor epoll(::epoll_create1(EPOLL_CLOEXEC));
  std::vector<std::unique_ptr<Connection>> connections;
  for (int index = 0; index < streams; ++index) {
    auto& connection = connections.emplace_back(std::make_unique<Connection>(socket, request));
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.ptr = connection.get();
    if (::epoll_ctl(epoll, EPOLL_CTL_ADD, connection->socket(), &event) != 0) fail("epoll_ctl");
  }
  for (int left = streams; left > 0;) {
    std::array<epoll_event, 16> events;
    const int ready = ::epoll_wait(epoll, events.data(), static_cast<int>(events.size()), -1);
    if (ready < 0 && errno != EINTR) fail("epoll_wait");
    for (int index = 0; index < ready; ++index) {
      auto& connection =
          *static_cast<Connection*>(events[static_cast<std::size_t>(index)].data.ptr);
      connection.read(tokens);
      if (!connection.ended()) continue;
      ::epoll_ctl(epoll, EPOLL_CTL_DEL, connection.socket(), nullptr);
      --left;
    }
  }
  std::vector<StreamTimes> answers;
  for (const auto& connection : connections)
    answers.push_back(connection->answer());
  return answers;
}

}  // namespace llamavisor::bench
