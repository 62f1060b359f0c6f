#include "screen.hpp"

#include "common/program.hpp"
#include "common/standard_streams.hpp"

#include <fmt/format.h>

namespace llamavisor::chat {

namespace {

/// U+FFFD for each control character that could steer a terminal: C0 but for tab and line feed,
/// DEL, and C1.
std::string harmless(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    const auto next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0U;
    const bool c1 = c == 0xC2 && next >= 0x80 && next < 0xA0;
    if (c1) ++i;
    if (c1 || c == 0x7F || (c < 0x20 && c != '\n' && c != '\t')) {
      result += "\xEF\xBF\xBD";
    } else {
      result += text[i];
    }
  }
  return result;
}

std::string why_it_ended(const GenerateResult& result, const GenerateOptions& options,
                         int context_length) {
  if (result.finish_reason == FinishReason::cancelled || result.failure) return "cancelled";
  if (result.finish_reason != FinishReason::length) return {};
  if (options.max_tokens > 0 && result.generated_tokens >= options.max_tokens) {
    return fmt::format("ended after {} tokens, as --max-tokens says", options.max_tokens);
  }
  return fmt::format(
      "the context of {} tokens is full: the answer ends here; /reset begins a new "
      "conversation, --context-length allows a longer one",
      context_length);
}

}  // namespace

Screen::Screen(cli::Output& output, cli::Notices& notices)
    : output_(output),
      notices_(notices),
      filter_(cli::is_terminal(1)),
      dim_(cli::wants_colours(2)) {}

void Screen::text(std::string_view piece) {
  if (!output_.inside_line()) notices_.show();
  output_.write(filter_ ? harmless(piece) : std::string(piece));
}

void Screen::end_answer(const GenerateResult& result, const GenerateOptions& options,
                        int context_length) {
  if (output_.inside_line()) output_.write("\n");
  const bool cancelled = result.failure && result.failure->code == errc::cancelled;
  if (result.failure && !cancelled) {
    notices_.drop(*result.failure);
    notices_.show();
    cli::write_error_line(cli::error_line("llamavisor-chat", *result.failure));
    if (result.failure->code == errc::context_exceeded) note("/reset begins a new conversation");
    return;
  }
  notices_.show();
  if (const auto why = why_it_ended(result, options, context_length); !why.empty()) note(why);
}

void Screen::note(std::string_view line) const {
  cli::write_error_line(dim_ ? fmt::format("\x1b[2m({})\x1b[0m", line) : fmt::format("({})", line));
}

}  // namespace llamavisor::chat
