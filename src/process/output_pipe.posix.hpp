/// \file
/// One of a child's two outputs, at our end of the pipe. Included by files that know asio only.
#pragma once

#include "process/descriptor.hpp"
#include "process/line_assembler.hpp"
#include "process/spawn_request.hpp"
#include "process/system_calls.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>

namespace llamavisor::process {

/// Drained always, also where nobody listens: a full pipe would stop the child. On the runtime
/// thread; call-backs never come from within `watch`.
class OutputPipe {
 public:
  struct Handlers {
    std::function<void()> on_bytes;
    std::function<void(std::string_view line)> on_line;
  };

  OutputPipe(const boost::asio::any_io_executor& executor, SystemCalls& calls, Handlers handlers);

  /// Makes the pipe and gives the child's end.
  bool open(Descriptor& write_end, SpawnError& error);

  /// Reads from now on. What is pending keeps the owner of this pipe, and with it the pipe.
  void watch(std::shared_ptr<void> owner);

  /// Takes what lies in the pipe now, ends the last line, and closes.
  void finish();

  std::string_view partial_line() const noexcept { return lines_.partial(); }

 private:
  bool read_once(std::size_t limit);
  void close() noexcept;

  SystemCalls& calls_;
  Handlers handlers_;
  boost::asio::posix::stream_descriptor pipe_;
  LineAssembler lines_;
  std::unique_ptr<char[]> buffer_;
};

/// The child's end of a descriptor must not be 0, 1 or 2, which a host may have closed for itself.
/// False, with errno, where there is no other number.
bool move_above_standard_streams(Descriptor& descriptor, SystemCalls& calls);

}  // namespace llamavisor::process
