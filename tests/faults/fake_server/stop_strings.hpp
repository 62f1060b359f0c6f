// Text on its way to the client: held back where it may be part of a stop string or of a
// character.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fake {

/// Follows the answer's text as the real server does:
/// - while the text ends in the middle of a character, nothing is sent at all, and the ids of
///   such tokens are lost to the stream;
/// - while the end of what is unsent may begin a stop string, an event comes without text;
/// - a text that is still held back when the answer ends for its length is never streamed.
class TextGate {
 public:
  explicit TextGate(std::vector<std::string> stops) : stops_(std::move(stops)) {}

  struct Step {
    bool silent = false;  ///< no event at all
    std::string text{};   ///< of the event
  };

  /// `last`: an end-of-text token, after which held text is let go.
  Step add(std::string_view piece, bool last);

  /// The stop string that has been met; empty = none.
  const std::string& met() const { return met_; }

  /// All text that counts: without what stands after, or is, a stop string.
  const std::string& text() const { return text_; }

 private:
  std::vector<std::string> stops_;
  std::string text_, met_;
  std::size_t sent_ = 0;
};

}  // namespace fake
