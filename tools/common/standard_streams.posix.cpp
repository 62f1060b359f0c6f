#include "common/standard_streams.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace llamavisor::cli {

void guard_standard_streams() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) != -1) continue;
    // The lowest free number is this one. The wrong way round: reading or writing is EBADF.
    const int flags = descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY;
    [[maybe_unused]] const int opened = ::open("/dev/null", flags);
  }
}

bool is_terminal(int descriptor) {
  return ::isatty(descriptor) == 1;
}

bool can_draw(int descriptor) {
  const char* terminal = std::getenv("TERM");
  return is_terminal(descriptor) && terminal && *terminal && terminal != std::string_view("dumb");
}

bool wants_colours(int descriptor) {
  const char* no = std::getenv("NO_COLOR");
  return can_draw(descriptor) && !(no && *no);
}

int columns(int descriptor) {
  struct winsize size {};
  const bool known = ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : 80;
}

}  // namespace llamavisor::cli
