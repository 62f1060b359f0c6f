// A host that is a process of its own, for tests that kill hosts, or need two of them.
//   contract_host MODE ENGINE MODEL; says on stdout what it has reached.
#include <llamavisor/llamavisor.hpp>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

namespace {

using namespace llamavisor;

void say(std::string text) {
  text += '\n';
  if (::write(1, text.data(), text.size()) < 0) std::_Exit(9);
}

struct Settings {
  std::string engine, model;

  LoadOptions options() const {
    return {.device = "cpu", .engine = engine, .context_length = 4096, .parallel = 2, .threads = 1};
  }
};

/// Loads, and waits for its end.
int ready(const Settings& settings) {
  const auto model = load_model(settings.model, settings.options());
  say("ready");
  while (true)
    ::pause();
}

/// Holds the load: from the event thread's word on, it says nothing more.
int loading(const Settings& settings) {
  auto options = settings.options();
  options.on_event = [](const Event& event) {
    if (event.kind == Event::Kind::started) say("started");
  };
  const auto model = load_model(settings.model, options);
  while (true)
    ::pause();
}

/// Loads on a thread that ends, and answers afterwards.
int thread_ends(const Settings& settings) {
  std::optional<TextModel> model;
  std::thread([&] { model = load_model(settings.model, settings.options()); }).join();
  say("ready");
  // Long after the kernel has ended what was tied to that thread.
  for (int answer = 0; answer < 20; ++answer)
    model->generate("Hello", {.max_tokens = 200, .temperature = 0}).result_or_throw();
  say(model->info().generation == 1 ? "answered" : "replaced");
  return 0;
}

/// Answers one line of stdin after the other, and closes at the end of it.
int answers(const Settings& settings) {
  const auto model = load_model(settings.model, settings.options());
  say("ready");
  char line[256];
  while (std::fgets(line, sizeof line, stdin)) {
    const auto answer = model.generate("Hello", {.max_tokens = 50, .temperature = 0}).result();
    say(answer.failure ? answer.failure->message
                       : "answer " + std::to_string(model.info().generation));
  }
  model.close();
  say("closed");
  return 0;
}

/// A child of the host's own ends with 42 while a model lives, is replaced and closes.
int own_children(const Settings& settings) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(42);
  const auto model = load_model(settings.model, settings.options());
  const pid_t later = ::fork();
  if (later == 0) ::_exit(43);
  model.reload();
  model.close();
  int first = 0, second = 0;
  const bool both = ::waitpid(child, &first, 0) == child && ::waitpid(later, &second, 0) == later;
  say(both ? std::to_string(WEXITSTATUS(first)) + " " + std::to_string(WEXITSTATUS(second))
           : "lost");
  return 0;
}

/// What the host had set for SIGPIPE and SIGCHLD is still there after a server's death.
int signals(const Settings& settings) {
  const auto model = load_model(settings.model, settings.options());
  auto stream = model.generate("Hello", {.max_tokens = 1500, .temperature = 0, .ignore_eos = true});
  stream.next();
  say("ready");
  const auto result = stream.result();  // the test kills the server meanwhile
  struct sigaction pipe_action {
  }, child_action{}, term_action{};
  ::sigaction(SIGPIPE, nullptr, &pipe_action);
  ::sigaction(SIGCHLD, nullptr, &child_action);
  ::sigaction(SIGTERM, nullptr, &term_action);
  const bool untouched = pipe_action.sa_handler == SIG_DFL && child_action.sa_handler == SIG_DFL &&
                         term_action.sa_handler == SIG_DFL;
  say(std::string(untouched ? "untouched" : "changed") +
      (result.failure ? " failed" : " answered"));
  return 0;
}

/// The handles of a model are dead in a child of fork(), and alive in the parent.
int forks(const Settings& settings) {
  const auto model = load_model(settings.model, settings.options());
  const pid_t child = ::fork();
  if (child == 0) {
    try {
      model.tokenize("a");
    } catch (const Error& error) {
      ::_exit(error.code() == errc::wrong_process ? 7 : 8);
    }
    ::_exit(9);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  const auto text =
      model.generate("Hello", {.max_tokens = 5, .temperature = 0}).result_or_throw().text;
  say(std::to_string(WEXITSTATUS(status)) + " " + std::to_string(model.info().generation));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string_view, int (*)(const Settings&)> modes{
      {"ready", ready},     {"loading", loading}, {"thread_ends", thread_ends},
      {"answers", answers}, {"signals", signals}, {"own_children", own_children},
      {"forks", forks}};
  const auto mode = argc == 4 ? modes.find(argv[1]) : modes.end();
  if (mode == modes.end()) return 64;
  try {
    return mode->second({.engine = argv[2], .model = argv[3]});
  } catch (const std::exception& error) {
    say(std::string("failed: ") + error.what());
    return 1;
  }
}
