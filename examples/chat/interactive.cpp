#include "interactive.hpp"

#include "common/interrupts.hpp"
#include "common/one_line.hpp"
#include "common/program.hpp"
#include "conversation.hpp"
#include "line_source.hpp"
#include "screen.hpp"
#include "statistics.hpp"

#include <fmt/format.h>

#include <string_view>

namespace llamavisor::chat {

namespace {

constexpr std::string_view help =
    "  /help   this text\n"
    "  /reset  begin a new conversation\n"
    "  /stats  figures of the model and of all answers so far\n"
    "  /quit   end the program; so does Ctrl-D\n"
    "  //text  a message that begins with a slash\n"
    "  Ctrl-C  cancels the answer, or gives up the line\n";

class Loop {
 public:
  Loop(Conversation& conversation, Screen& screen, cli::Interrupts& interrupts, bool on_terminal)
      : conversation_(conversation),
        screen_(screen),
        interrupts_(interrupts),
        on_terminal_(on_terminal) {}

  int run(LineSource& lines);

 private:
  void take(std::string line);
  void command(std::string_view name);
  void ask(std::string message);

  Conversation& conversation_;
  Screen& screen_;
  cli::Interrupts& interrupts_;
  const bool on_terminal_;
  bool quit_ = false;
  int status_ = cli::exit_success;
};

int Loop::run(LineSource& lines) {
  while (!quit_ && !interrupts_.terminated()) {
    auto line = lines.next();
    if (line.kind == Line::Kind::end) return status_;
    if (line.kind == Line::Kind::text) take(std::move(line.text));
    // Nobody at a terminal: nothing else would end a program that waits for a pipe.
    if (line.kind == Line::Kind::interrupted && !on_terminal_) return interrupts_.exit_status();
    interrupts_.forget();
  }
  return interrupts_.terminated() ? interrupts_.exit_status() : status_;
}

void Loop::take(std::string line) {
  if (line.find_first_not_of(" \t\r") == std::string::npos) return;
  if (line.starts_with("//")) return ask(line.substr(1));
  if (line.starts_with('/')) {
    return command(std::string_view(line).substr(0, line.find_last_not_of(" \t\r") + 1));
  }
  ask(std::move(line));
}

void Loop::command(std::string_view name) {
  if (name == "/help") {
    screen_.notes(help);
  } else if (name == "/reset") {
    conversation_.reset();
    screen_.note("a new conversation");
  } else if (name == "/stats") {
    screen_.notes(statistics(conversation_));
  } else if (name == "/quit") {
    quit_ = true;
  } else {
    screen_.note(
        fmt::format("there is no {}: /help lists what there is", cli::one_line(std::string(name))));
  }
}

void Loop::ask(std::string message) {
  if (conversation_.model().state() == ModelState::failed) {
    screen_.note("the model has failed: starting its server again");
  }
  const auto result = conversation_.ask(
      std::move(message), [&](std::string_view piece) { screen_.text(piece); },
      interrupts_.token());
  screen_.end_answer(result, conversation_.options(), conversation_.model().info().context_length);
  // A person has seen it; a script has to be told.
  if (result.failure && !on_terminal_) status_ = cli::exit_failure;
  if (on_terminal_ && !result.failure) screen_.note(answer_line(result));
}

}  // namespace

int converse(Conversation& conversation, LineSource& lines, Screen& screen,
             cli::Interrupts& interrupts, bool on_terminal) {
  return Loop(conversation, screen, interrupts, on_terminal).run(lines);
}

}  // namespace llamavisor::chat
