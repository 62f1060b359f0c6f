/// \file
/// Bytes of a program's output, made fit to show: a sans-IO filter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace llamavisor::process {

/// Passes valid UTF-8 on, replaces bytes that are no UTF-8 by U+FFFD (one for each broken piece, as
/// browsers do), and drops control characters and ANSI escape sequences. It keeps its place between
/// calls, so a character or an escape sequence may be cut anywhere.
class TextCleaner {
 public:
  class Sink {
   public:
    virtual void text(std::string_view text) = 0;  ///< whole characters
    virtual void line_feed() = 0;
    virtual void carriage_return() = 0;

   protected:
    ~Sink() = default;
  };

  void write(std::string_view bytes, Sink& sink);

  /// The end of the input: a character that is under way is broken.
  void finish(Sink& sink);

 private:
  enum class State { text, escape, control_sequence, control_string, control_string_escape };

  void plain(unsigned char byte, Sink& sink);
  void start_character(unsigned char byte, Sink& sink);
  bool continue_character(unsigned char byte, Sink& sink);
  void escaped(unsigned char byte, Sink& sink);

  State state_ = State::text;
  char character_[4] = {};
  std::uint8_t size_ = 0;                   ///< bytes of the character that are here
  std::uint8_t needed_ = 0;                 ///< bytes that it has in all; 0 = none is under way
  unsigned char low_ = 0x80, high_ = 0xBF;  ///< what its next byte may be
};

}  // namespace llamavisor::process
