#include "common/output.hpp"

#include "common/interrupts.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <system_error>

namespace llamavisor::cli {

namespace {

/// A pipe that polls as writable takes this much without waiting (PIPE_BUF is at least 512, 4096 on
/// Linux).
constexpr std::size_t piece = 512;

/// A write would not wait, or would say at once what is wrong.
constexpr short writable = POLLOUT | POLLERR | POLLHUP | POLLNVAL;

[[noreturn]] void throw_unwritable(int reason) {
  throw std::system_error(reason, std::generic_category(), "cannot write to standard output");
}

}  // namespace

void Output::check() const {
  const int flags = ::fcntl(STDOUT_FILENO, F_GETFL);
  if (flags == -1 || (flags & O_ACCMODE) == O_RDONLY) throw_unwritable(EBADF);
}

bool Output::wait_for_room() const {
  pollfd waits[] = {{.fd = STDOUT_FILENO, .events = POLLOUT, .revents = 0},
                    {.fd = interrupts_->descriptor(), .events = POLLIN, .revents = 0}};
  for (;;) {
    if (::poll(waits, 2, -1) < 0) {
      if (errno == EINTR) continue;
      return true;  // the write will say what is wrong
    }
    if (waits[0].revents & writable) return true;
    if (waits[1].revents) return false;
  }
}

void Output::write(std::string_view text) {
  if (!text.empty()) inside_line_ = text.back() != '\n';
  while (!text.empty()) {
    if (interrupts_ && !wait_for_room()) return;
    const auto size = interrupts_ ? std::min(piece, text.size()) : text.size();
    const auto written = ::write(STDOUT_FILENO, text.data(), size);
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EPIPE) {
      throw ReaderGone();
    } else if (errno == EAGAIN && !interrupts_) {
      pollfd wait{.fd = STDOUT_FILENO, .events = POLLOUT, .revents = 0};
      ::poll(&wait, 1, -1);
    } else if (errno != EINTR && errno != EAGAIN) {
      throw_unwritable(errno);
    }
  }
}

void write_error(std::string_view text) noexcept {
  while (!text.empty()) {
    const auto written = ::write(STDERR_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void write_error_line(std::string_view line) noexcept {
  try {
    write_error(std::string(line) + '\n');
  } catch (...) {  // no memory for the copy: two pieces, then
    write_error(line);
    write_error("\n");
  }
}

}  // namespace llamavisor::cli
