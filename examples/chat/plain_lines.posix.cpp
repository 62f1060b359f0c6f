#include "plain_lines.hpp"

#include "common/interrupts.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace llamavisor::chat {

Line PlainLines::next() {
  std::size_t searched = 0;
  for (;;) {
    const auto end = buffer_.find('\n', searched);
    if (end != std::string::npos) {
      auto text = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      return {Line::Kind::text, std::move(text)};
    }
    if (at_end_ && buffer_.empty()) return {Line::Kind::end};
    if (at_end_) return {Line::Kind::text, std::exchange(buffer_, {})};
    searched = buffer_.size();
    pollfd waits[] = {{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0},
                      {.fd = interrupts_.descriptor(), .events = POLLIN, .revents = 0}};
    if (::poll(waits, 2, -1) < 0) continue;
    if (waits[1].revents) return {Line::Kind::interrupted};
    char bytes[4096];
    const auto got = ::read(STDIN_FILENO, bytes, sizeof bytes);
    if (got > 0) buffer_.append(bytes, static_cast<std::size_t>(got));
    if (got == 0) at_end_ = true;
    if (got < 0 && errno != EINTR && errno != EAGAIN) {
      throw std::system_error(errno, std::generic_category(), "cannot read standard input");
    }
  }
}

}  // namespace llamavisor::chat
