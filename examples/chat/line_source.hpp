/// \file
/// Where the user's messages come from.
#pragma once

#include <string>

namespace llamavisor::chat {

struct Line {
  enum class Kind {
    text,
    interrupted,  ///< a signal came first: `cli::Interrupts` knows which
    end           ///< there will be no more
  };
  Kind kind = Kind::end;
  std::string text{};
};

class LineSource {
 public:
  virtual ~LineSource() = default;

  /// Waits for the next line; it comes without its line break.
  virtual Line next() = 0;
};

}  // namespace llamavisor::chat
