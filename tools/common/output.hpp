/// \file
/// Standard output without a buffer, and with no failure unseen.
#pragma once

#include <stdexcept>
#include <string_view>

namespace llamavisor::cli {

class Interrupts;

/// The reader of our output has gone (`| head`): nothing to complain about.
struct ReaderGone : std::runtime_error {
  ReaderGone() : std::runtime_error("nobody reads the output any more") {}
};

class Output {
 public:
  /// With `interrupts`, a signal ends the wait for a reader that does not read.
  explicit Output(const Interrupts* interrupts = nullptr) : interrupts_(interrupts) {}

  /// Writes all of it, at once. Throws `ReaderGone`, or `std::system_error` where the disk is full,
  /// the stream is closed, ...; when interrupted while nobody reads, the rest is dropped.
  void write(std::string_view text);

  /// Throws `std::system_error` where writing cannot work: better now than after a long load.
  void check() const;

  /// Whether what was written so far ends inside a line.
  bool inside_line() const noexcept { return inside_line_; }

 private:
  bool wait_for_room() const;

  const Interrupts* interrupts_;
  bool inside_line_ = false;
};

/// A line to standard error, in one piece, whatever becomes of it.
void write_error_line(std::string_view line) noexcept;

/// Bytes to standard error, whatever becomes of them.
void write_error(std::string_view text) noexcept;

}  // namespace llamavisor::cli
