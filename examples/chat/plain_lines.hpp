/// \file
/// Lines of a pipe or a file.
#pragma once

#include "line_source.hpp"

namespace llamavisor::cli {
class Interrupts;
}

namespace llamavisor::chat {

class PlainLines final : public LineSource {
 public:
  explicit PlainLines(const cli::Interrupts& interrupts) : interrupts_(interrupts) {}

  /// Throws `std::system_error` where standard input cannot be read.
  Line next() override;

 private:
  const cli::Interrupts& interrupts_;
  std::string buffer_;
  bool at_end_ = false;
};

}  // namespace llamavisor::chat
