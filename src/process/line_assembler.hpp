/// \file
/// Bytes to lines.
#pragma once

#include "process/text_cleaner.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace llamavisor::process {

/// Cuts one byte stream into clean lines. LF, CR LF and a CR alone end a line; a line that has
/// reached `max_line` bytes is cut there, between characters.
class LineAssembler {
 public:
  using OnLine = std::function<void(std::string_view)>;

  explicit LineAssembler(std::size_t max_line = 4096);

  void write(std::string_view bytes, const OnLine& on_line);
  void finish(const OnLine& on_line);  ///< ends the line that is under way

  /// The line that is under way.
  std::string_view partial() const noexcept { return partial_; }

 private:
  class Sink;
  enum class Last { text, line_feed, carriage_return, cut };

  std::size_t max_line_;
  TextCleaner cleaner_;
  std::string partial_, ended_;
  Last last_ = Last::line_feed;
};

}  // namespace llamavisor::process
