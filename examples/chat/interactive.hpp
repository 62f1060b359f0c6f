/// \file
/// The conversation's loop.
#pragma once

namespace llamavisor::cli {
class Interrupts;
}

namespace llamavisor::chat {

class Conversation;
class LineSource;
class Screen;

/// Answers each line until the end of the input, `/quit`, or a signal that ends the program.
/// `on_terminal`: a person types the lines. Returns the exit status.
int converse(Conversation& conversation, LineSource& lines, Screen& screen,
             cli::Interrupts& interrupts, bool on_terminal);

}  // namespace llamavisor::chat
