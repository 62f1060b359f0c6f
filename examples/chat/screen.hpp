/// \file
/// Who sees what: answers go to standard output, everything else to standard error.
#pragma once

#include <llamavisor/token_stream.hpp>

#include "common/notices.hpp"
#include "common/output.hpp"

#include <string>
#include <string_view>

namespace llamavisor::chat {

class Screen {
 public:
  Screen(cli::Output& output, cli::Notices& notices);

  /// A piece of the answer. Notices that wait are shown between its lines.
  void text(std::string_view piece);

  /// Ends the line that the answer is in, says what a person should know of its end, and shows the
  /// notices that wait. `context_length` in tokens.
  void end_answer(const GenerateResult& result, const GenerateOptions& options, int context_length);

  /// A line beside the conversation.
  void note(std::string_view line) const;

  /// Lines beside the conversation.
  void notes(std::string_view lines) { cli::write_error(lines); }

 private:
  cli::Output& output_;
  cli::Notices& notices_;
  const bool filter_;
  const bool dim_;
};

}  // namespace llamavisor::chat
