#include "process/text_cleaner.hpp"

namespace llamavisor::process {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";
constexpr unsigned char bell = 0x07;
constexpr unsigned char escape = 0x1B;
constexpr unsigned char del = 0x7F;

constexpr bool is_plain_ascii(unsigned char byte) {
  return (byte >= 0x20 && byte < del) || byte == '\t';
}

std::size_t plain_run(std::string_view bytes) {
  std::size_t length = 0;
  while (length < bytes.size() && is_plain_ascii(static_cast<unsigned char>(bytes[length]))) {
    ++length;
  }
  return length;
}

}  // namespace

void TextCleaner::write(std::string_view bytes, Sink& sink) {
  while (!bytes.empty()) {
    if (state_ == State::text && needed_ == 0) {
      if (const std::size_t run = plain_run(bytes); run > 0) {
        sink.text(bytes.substr(0, run));
        bytes.remove_prefix(run);
        continue;
      }
    }
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    if (state_ == State::text) {
      if (needed_ == 0 || !continue_character(byte, sink)) plain(byte, sink);
    } else {
      escaped(byte, sink);
    }
  }
}

void TextCleaner::finish(Sink& sink) {
  if (needed_ != 0) sink.text(replacement);
  needed_ = 0;
  state_ = State::text;
}

void TextCleaner::plain(unsigned char byte, Sink& sink) {
  if (byte == '\n') {
    sink.line_feed();
  } else if (byte == '\r') {
    sink.carriage_return();
  } else if (byte == escape) {
    state_ = State::escape;
  } else if (byte >= 0x80) {
    start_character(byte, sink);
  } else if (is_plain_ascii(byte)) {
    const char character = static_cast<char>(byte);
    sink.text({&character, 1});
  }
}

// The ranges of the Unicode standard's table of well-formed sequences: no overlong forms, no
// surrogates, nothing above U+10FFFF.
void TextCleaner::start_character(unsigned char byte, Sink& sink) {
  low_ = 0x80;
  high_ = 0xBF;
  if (byte >= 0xC2 && byte <= 0xDF) {
    needed_ = 2;
  } else if (byte >= 0xE0 && byte <= 0xEF) {
    needed_ = 3;
    if (byte == 0xE0) low_ = 0xA0;
    if (byte == 0xED) high_ = 0x9F;
  } else if (byte >= 0xF0 && byte <= 0xF4) {
    needed_ = 4;
    if (byte == 0xF0) low_ = 0x90;
    if (byte == 0xF4) high_ = 0x8F;
  } else {
    sink.text(replacement);
    return;
  }
  character_[0] = static_cast<char>(byte);
  size_ = 1;
}

// False where the byte does not belong to the character: it then stands for itself.
bool TextCleaner::continue_character(unsigned char byte, Sink& sink) {
  if (byte < low_ || byte > high_) {
    needed_ = 0;
    sink.text(replacement);
    return false;
  }
  low_ = 0x80;
  high_ = 0xBF;
  character_[size_++] = static_cast<char>(byte);
  if (size_ < needed_) return true;
  const bool control = needed_ == 2 && character_[0] == '\xC2' && byte < 0xA0;
  needed_ = 0;
  if (!control) sink.text({character_, size_});
  return true;
}

void TextCleaner::escaped(unsigned char byte, Sink& sink) {
  // A line's end ends whatever was under way: a sequence that was never closed must not swallow
  // the rest of a log.
  if (byte == '\n' || byte == '\r') {
    state_ = State::text;
    plain(byte, sink);
    return;
  }
  switch (state_) {
    case State::escape:
      if (byte == '[') {
        state_ = State::control_sequence;
      } else if (byte == ']' || byte == 'P' || byte == 'X' || byte == '^' || byte == '_') {
        state_ = State::control_string;
      } else if (byte < 0x20 || byte > 0x2F) {  // not an intermediate byte: the sequence's last
        state_ = State::text;
        if (byte >= 0x80 || byte == escape) plain(byte, sink);
      }
      return;
    case State::control_sequence:
      if (byte >= 0x20 && byte <= 0x3F) return;
      state_ = State::text;
      if (byte < 0x40 || byte > 0x7E) plain(byte, sink);
      return;
    case State::control_string:
      if (byte == bell) state_ = State::text;
      if (byte == escape) state_ = State::control_string_escape;
      return;
    case State::control_string_escape:
      state_ = byte == '\\' ? State::text : State::control_string;
      return;
    case State::text: return;
  }
}

}  // namespace llamavisor::process
