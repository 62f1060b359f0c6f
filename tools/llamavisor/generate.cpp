#include <llamavisor/backend.hpp>

#include "common/generate_flags.hpp"
#include "common/input.hpp"
#include "common/interrupts.hpp"
#include "common/load_flags.hpp"
#include "common/load_progress.hpp"
#include "common/notices.hpp"
#include "common/output.hpp"
#include "common/program.hpp"
#include "common/standard_streams.hpp"
#include "llamavisor/command.hpp"
#include "llamavisor/event_log.hpp"
#include "llamavisor/to_json.hpp"

#include <CLI/CLI.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace llamavisor::cli {

namespace {

namespace json = boost::json;

/// How late the last event may come.
constexpr std::chrono::milliseconds events_follow{1000};

class Generate {
 public:
  void describe_to(CLI::App& app);
  int run(Interrupts& interrupts) { return as_json_ ? run_json(interrupts) : run_text(interrupts); }

 private:
  int run_text(Interrupts& interrupts);
  int run_json(Interrupts& interrupts);
  GenerateResult answer(const Interrupts& interrupts, EventHandler on_event,
                        const std::function<void(const Token&)>& on_token) const;
  std::string read_prompt(const Interrupts& interrupts) const;

  LoadFlags load_;
  GenerateFlags generate_;
  std::optional<std::string> prompt_;
  std::filesystem::path prompt_file_;
  bool as_json_ = false;
};

void Generate::describe_to(CLI::App& app) {
  auto* prompts = app.add_option_group("Prompt");
  prompts->add_option("-p,--prompt", prompt_, "Raw text to go on from; - reads standard input")
      ->type_name("TEXT");
  prompts->add_option("--prompt-file", prompt_file_, "File with the prompt, byte for byte")
      ->type_name("FILE");
  prompts->require_option(1);
  load_.describe_to(app);
  generate_.describe_to(app);
  app.add_flag("--json", as_json_, "One JSON object at the end, rather than the text as it comes");
}

std::string Generate::read_prompt(const Interrupts& interrupts) const {
  if (!prompt_) return read_file(prompt_file_, "--prompt-file");
  return *prompt_ == "-" ? read_standard_input(interrupts) : *prompt_;
}

/// Loads, answers, closes: an event handler outlives this, as it may be called a little later.
GenerateResult Generate::answer(const Interrupts& interrupts, EventHandler on_event,
                                const std::function<void(const Token&)>& on_token) const {
  auto load_options = load_.to_options();
  load_options.on_event = std::move(on_event);
  const auto options = generate_.to_options();
  const auto prompt = read_prompt(interrupts);
  const auto model = load_model(load_.model, load_options, interrupts.token());
  auto stream = model.generate(prompt, options);
  const std::stop_callback on_signal(interrupts.token(), [&] { stream.cancel(); });
  for (const auto& token : stream)
    on_token(token);
  auto result = stream.result();
  model.close();
  return result;
}

int Generate::run_text(Interrupts& interrupts) {
  Output output(&interrupts);
  output.check();
  const auto progress = std::make_shared<LoadProgress>(load_.model.filename().string(),
                                                       LoadProgress::Style::terminal_only);
  const auto notices = std::make_shared<Notices>();
  const auto on_event = [progress, notices](const Event& event) {
    progress->show(event);
    notices->add(event);
  };
  const auto on_token = [&](const Token& token) {
    progress->finish();
    if (!output.inside_line()) notices->show();
    output.write(token.text);
  };
  const auto end = [&](const std::optional<Failure>& failure) {
    progress->finish();
    if (output.inside_line() && is_terminal(1)) write_error("\n");
    if (failure) notices->drop(*failure);
    notices->show();
  };
  try {
    const auto result = answer(interrupts, on_event, on_token);
    if (result.failure) throw Error(*result.failure);
    end(std::nullopt);
    return result.finish_reason == FinishReason::cancelled ? interrupts.exit_status()
                                                           : static_cast<int>(exit_success);
  } catch (const Error& error) {
    end(error.failure());
    throw;
  }
}

int Generate::run_json(Interrupts& interrupts) {
  Output output(&interrupts);
  output.check();
  const auto progress = std::make_shared<LoadProgress>(load_.model.filename().string(),
                                                       LoadProgress::Style::terminal_only);
  const auto log = std::make_shared<EventLog>();
  const auto on_event = [progress, log](const Event& event) {
    progress->show(event);
    log->add(event);
  };
  const bool with_tokens = generate_.options.logprobs > 0;
  json::array tokens;
  const auto on_token = [&](const Token& token) {
    progress->finish();
    if (with_tokens) tokens.push_back(to_json(token));
  };
  json::object object;
  std::optional<Failure> failure;
  int status = exit_success;
  try {
    const auto result = answer(interrupts, on_event, on_token);
    object = to_json(result);
    if (with_tokens) object["tokens"] = std::move(tokens);
    failure = result.failure;
    if (result.finish_reason == FinishReason::cancelled) status = interrupts.exit_status();
  } catch (const Error& error) {
    failure = error.failure();
    object["text"] = failure->partial_text;
  }
  progress->finish();
  const bool started = !failure || failure->phase != Phase::none;
  object["events"] = list_to_json(log->settled(started, events_follow));
  if (failure) object["error"] = to_json(*failure);
  output.write(json::serialize(object) + '\n');
  if (failure) throw Error(*failure);
  return status;
}

}  // namespace

Command add_generate(CLI::App& tool) {
  auto* parser = tool.add_subcommand("generate", "Go on from a text");
  const auto command = std::make_shared<Generate>();
  command->describe_to(*parser);
  return {parser, [command](Interrupts& interrupts) { return command->run(interrupts); }};
}

}  // namespace llamavisor::cli
