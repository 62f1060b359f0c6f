/// \file
/// The last lines that a process wrote.
#pragma once

#include "process/line_assembler.hpp"

#include <cstddef>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace llamavisor::process {

/// Cuts a byte stream into lines and keeps the last ones, within a bound of lines and of bytes.
/// Lines longer than `max_line` are cut there; bytes that are no UTF-8 become U+FFFD, control
/// characters (other than the tab) and ANSI colours are dropped.
class OutputRing {
 public:
  explicit OutputRing(std::size_t max_lines = 200, std::size_t max_line = 4096);

  /// Takes bytes; calls `on_line` for each line that they complete, also with a partial line that
  /// has reached `max_line`. A CR alone ends a line as well (progress bars).
  void write(std::string_view bytes, const std::function<void(std::string_view)>& on_line = {});

  /// Ends the line that is under way.
  void finish(const std::function<void(std::string_view)>& on_line = {});

  /// Takes a line that another stream has ended.
  void add(std::string_view line);

  /// Oldest first; a line that is under way comes last.
  std::vector<std::string> last_lines(std::size_t count) const;

 private:
  std::size_t max_lines_;
  LineAssembler assembler_;
  std::deque<std::string> lines_;
};

}  // namespace llamavisor::process
