#include "common/wake_pipe.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace llamavisor::cli {

WakePipe::WakePipe() {
  if (::pipe(ends_) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  for (const int end : ends_) {
    ::fcntl(end, F_SETFD, FD_CLOEXEC);
    ::fcntl(end, F_SETFL, O_NONBLOCK);
  }
}

WakePipe::~WakePipe() {
  for (const int end : ends_)
    ::close(end);
}

void WakePipe::ring() const noexcept {
  // A full pipe rings already.
  [[maybe_unused]] const auto written = ::write(ends_[1], "!", 1);
}

void WakePipe::silence() const noexcept {
  char rings[64];
  while (::read(ends_[0], rings, sizeof rings) > 0) {
  }
}

}  // namespace llamavisor::cli
