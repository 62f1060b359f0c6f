#include <llamavisor/backend.hpp>

#include "common/generate_flags.hpp"
#include "common/input.hpp"
#include "common/interrupts.hpp"
#include "common/load_flags.hpp"
#include "common/load_progress.hpp"
#include "common/program.hpp"
#include "common/standard_streams.hpp"
#include "conversation.hpp"
#include "interactive.hpp"
#include "line_editor.hpp"
#include "plain_lines.hpp"
#include "screen.hpp"
#include "statistics.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>

namespace {

using namespace llamavisor;

class Chat {
 public:
  void describe_to(CLI::App& app);
  int run(cli::Interrupts& interrupts);

 private:
  TextModel load(const cli::Interrupts& interrupts, LoadOptions options) const;
  int answer_once(chat::Conversation& conversation, chat::Screen& screen, std::string message,
                  const cli::Interrupts& interrupts) const;
  int converse(chat::Conversation& conversation, chat::Screen& screen,
               cli::Interrupts& interrupts) const;

  cli::LoadFlags load_;
  cli::GenerateFlags generate_;
  std::optional<std::string> message_;
  std::string system_;
  // Shared with the event handler, which may be called a little after the model is gone.
  std::shared_ptr<cli::Notices> notices_ = std::make_shared<cli::Notices>();
};

void Chat::describe_to(CLI::App& app) {
  app.set_version_flag("--version", "llamavisor-chat " LLAMAVISOR_VERSION);
  app.add_option("-p,--prompt", message_,
                 "Answer this message and end; - reads it from standard input")
      ->type_name("TEXT");
  app.add_option("--system", system_, "System message: how the model is to answer")
      ->type_name("TEXT");
  load_.describe_to(app);
  generate_.describe_to(app);
}

int Chat::run(cli::Interrupts& interrupts) {
  cli::Output output(&interrupts);
  output.check();
  chat::Screen screen(output, *notices_);
  auto load_options = load_.to_options();
  auto options = generate_.to_options();
  if (message_ == "-") message_ = cli::read_standard_input(interrupts);
  chat::Conversation conversation(load(interrupts, std::move(load_options)), std::move(options),
                                  system_);
  notices_->show();
  const auto& model = conversation.model();
  if (model.model_type() == ModelType::base) {
    screen.note("the model has no chat template of its own: the server's stands in");
  }
  const int status = message_ ? answer_once(conversation, screen, *message_, interrupts)
                              : converse(conversation, screen, interrupts);
  model.close();
  return status;
}

TextModel Chat::load(const cli::Interrupts& interrupts, LoadOptions options) const {
  const auto progress = std::make_shared<cli::LoadProgress>(load_.model.filename().string(),
                                                            cli::LoadProgress::Style::automatic);
  options.on_event = [progress, notices = notices_](const Event& event) {
    progress->show(event);
    notices->add(event);
  };
  try {
    auto model = load_model(load_.model, options, interrupts.token());
    progress->finish();
    return model;
  } catch (const Error& error) {
    progress->finish();
    notices_->drop(error.failure());
    notices_->show();
    throw;
  }
}

int Chat::answer_once(chat::Conversation& conversation, chat::Screen& screen, std::string message,
                      const cli::Interrupts& interrupts) const {
  const auto result = conversation.ask(
      std::move(message), [&](std::string_view piece) { screen.text(piece); }, interrupts.token());
  screen.end_answer(result, conversation.options(), conversation.model().info().context_length);
  if (result.failure) return cli::exit_status(result.failure->code);
  screen.note(chat::answer_line(result));
  const bool cancelled = result.finish_reason == FinishReason::cancelled;
  return cancelled ? interrupts.exit_status() : static_cast<int>(cli::exit_success);
}

int Chat::converse(chat::Conversation& conversation, chat::Screen& screen,
                   cli::Interrupts& interrupts) const {
  const bool on_terminal = cli::is_terminal(0) && (cli::is_terminal(1) || cli::is_terminal(2));
  if (!on_terminal) {
    chat::PlainLines lines(interrupts);
    return chat::converse(conversation, lines, screen, interrupts, false);
  }
  const auto info = conversation.model().info();
  screen.note(fmt::format("{}; on {}, {} tokens of context; /help tells more",
                          chat::model_line(info), info.device, info.context_length));
  chat::LineEditor lines(interrupts, *notices_, chat::HistoryFile::of_user());
  return chat::converse(conversation, lines, screen, interrupts, true);
}

}  // namespace

int main(int argc, char** argv) {
  return cli::run_program("llamavisor-chat", [&](cli::Interrupts& interrupts) {
    CLI::App app("Chat with a GGUF model on a supervised llama-server process.", "llamavisor-chat");
    cli::take_last_of_repeated(app);
    Chat chat;
    chat.describe_to(app);
    const auto status = cli::parse(app, argc, argv);
    return status ? *status : chat.run(interrupts);
  });
}
