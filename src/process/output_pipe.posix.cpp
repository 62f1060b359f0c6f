#include "process/output_pipe.posix.hpp"

#include <boost/asio/posix/descriptor_base.hpp>
#include <boost/system/error_code.hpp>

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace llamavisor::process {
namespace {

using boost::asio::posix::descriptor_base;
using boost::system::error_code;

// One read for each time that a pipe is readable: a flood takes turns with everything else.
constexpr std::size_t read_size = 64 * 1024;

}  // namespace

bool move_above_standard_streams(Descriptor& descriptor, SystemCalls& calls) {
  constexpr int first = 3;
  if (descriptor.get() >= first) return true;
  const int higher = calls.fcntl(descriptor.get(), F_DUPFD_CLOEXEC, first);
  if (higher < 0) return false;
  descriptor.reset(higher);
  return true;
}

OutputPipe::OutputPipe(const boost::asio::any_io_executor& executor, SystemCalls& calls,
                       Handlers handlers)
    : calls_(calls), handlers_(std::move(handlers)), pipe_(executor) {}

bool OutputPipe::open(Descriptor& write_end, SpawnError& error) {
  int ends[2] = {-1, -1};
  if (calls_.pipe2(ends, O_CLOEXEC) != 0) {
    error = {.step = "pipe", .error = errno};
    return false;
  }
  Descriptor read_end(calls_, ends[0]);
  write_end.reset(ends[1]);
  // Our end alone: a program does not expect an output that refuses to wait.
  if (calls_.fcntl(read_end.get(), F_SETFL, O_NONBLOCK) != 0 ||
      !move_above_standard_streams(write_end, calls_)) {
    error = {.step = "fcntl", .error = errno};
    return false;
  }
  error_code failure;
  pipe_.assign(read_end.get(), failure);
  if (failure) {
    error = {.step = "epoll_ctl", .error = failure.value()};
    return false;
  }
  static_cast<void>(read_end.release());
  buffer_ = std::make_unique_for_overwrite<char[]>(read_size);
  return true;
}

void OutputPipe::watch(std::shared_ptr<void> owner) {
  pipe_.async_wait(descriptor_base::wait_read,
                   [this, owner = std::move(owner)](error_code failure) mutable {
                     if (failure || !pipe_.is_open()) return;
                     if (read_once(read_size)) watch(std::move(owner));
                   });
}

// False where nothing more will come.
bool OutputPipe::read_once(std::size_t limit) {
  const ssize_t size = calls_.read(pipe_.native_handle(), buffer_.get(), limit);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  if (size <= 0) {
    close();
    return false;
  }
  handlers_.on_bytes();
  lines_.write({buffer_.get(), static_cast<std::size_t>(size)}, handlers_.on_line);
  return true;
}

// What was written until now, and no more: a grandchild may keep the pipe open, and go on writing,
// for as long as it likes.
void OutputPipe::finish() {
  if (pipe_.is_open()) {
    error_code failure;
    descriptor_base::bytes_readable readable;
    pipe_.io_control(readable, failure);
    std::size_t left = failure ? 0 : readable.get();
    while (left > 0) {
      const std::size_t size = std::min(left, read_size);
      if (!read_once(size)) break;
      left -= size;
    }
    close();
  }
  lines_.finish(handlers_.on_line);
}

void OutputPipe::close() noexcept {
  error_code ignored;
  pipe_.close(ignored);
}

}  // namespace llamavisor::process
