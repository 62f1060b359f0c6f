/// \file
/// Text of unknown origin, fit for one line of a terminal.
#pragma once

#include <algorithm>
#include <string>

namespace llamavisor::cli {

/// Line breaks and other control characters become blanks: a server's log could otherwise steer
/// the terminal.
inline std::string one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  return text;
}

}  // namespace llamavisor::cli
