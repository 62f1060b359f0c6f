#include "common/input.hpp"

#include <llamavisor/error.hpp>

#include "common/interrupts.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

namespace llamavisor::cli {

namespace {

enum class Read { some, end, failed };

/// Appends what is there. `errno` says why it failed.
Read read_some(int descriptor, std::string& text) {
  char bytes[16 * 1024];
  for (;;) {
    const auto got = ::read(descriptor, bytes, sizeof bytes);
    if (got > 0) text.append(bytes, static_cast<std::size_t>(got));
    if (got >= 0) return got > 0 ? Read::some : Read::end;
    if (errno != EINTR) return Read::failed;
  }
}

}  // namespace

std::string read_standard_input(const Interrupts& interrupts) {
  std::string text;
  for (;;) {
    pollfd waits[] = {{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0},
                      {.fd = interrupts.descriptor(), .events = POLLIN, .revents = 0}};
    if (::poll(waits, 2, -1) < 0) continue;
    if (waits[1].revents) throw Error(errc::cancelled, "interrupted while reading standard input");
    const auto result = read_some(STDIN_FILENO, text);
    if (result == Read::end) return text;
    if (result == Read::failed && errno != EAGAIN) {
      throw std::system_error(errno, std::generic_category(), "cannot read standard input");
    }
  }
}

std::string read_file(const std::filesystem::path& file, const char* option) {
  std::string text;
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  auto result = descriptor < 0 ? Read::failed : Read::some;
  while (result == Read::some)
    result = read_some(descriptor, text);
  const int reason = errno;
  if (descriptor >= 0) ::close(descriptor);
  if (result == Read::end) return text;
  throw Error(errc::invalid_option, fmt::format("cannot read {}, the file of {}: {}", file.string(),
                                                option, std::strerror(reason)));
}

}  // namespace llamavisor::cli
