// A llama-server that can be told to fail. README.md says how.
#include "arguments.hpp"
#include "family.hpp"
#include "listener.hpp"
#include "script_source.hpp"
#include "server.hpp"
#include "words.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <iostream>
#include <thread>

namespace {

using namespace fake;

int term_pipe[2];
std::atomic_flag term_came;

void on_term(int) {
  if (term_came.test_and_set()) _exit(1);  // the second one
  const char byte = 0;
  if (::write(term_pipe[1], &byte, 1) < 0) _exit(1);
}

/// SIGTERM while loading ends the real server by that signal; only then does it stop cleanly.
void watch_for_term() {
  struct sigaction action {};
  action.sa_handler = on_term;
  ::sigaction(SIGTERM, &action, nullptr);
  ::sigaction(SIGINT, &action, nullptr);
}

std::string folder_of(const char* program) {
  const auto folder = std::filesystem::path(program).parent_path();
  return folder.empty() ? "." : folder.string();
}

bool is_on_gpu(const std::string& flavour, const Arguments& arguments) {
  if (flavour == "cpu" || arguments.device == "none") return false;
  return !flavour.empty() || !arguments.device.empty();
}

void print_devices(const Script& script) {
  std::cout << "Available devices:\n";
  if (script.devices.empty()) std::cout << "  (none)\n";
  for (const auto& name : split(script.devices, ',')) {
    if (name.empty()) continue;
    std::cout << "  " << name << ": fake device (16384 MiB, 16000 MiB free)\n";
  }
}

/// True when the device that the command line names is one of the script's.
bool knows_device(const Script& script, const std::string& device) {
  if (device.empty() || device == "none" || script.devices.empty()) return true;
  const auto known = split(script.devices, ',');
  for (const auto& name : split(device, ',')) {
    if (std::find(known.begin(), known.end(), name) == known.end()) return false;
  }
  return true;
}

/// Takes connections until SIGTERM, or until the script's idle limit.
void take_connections(Server& server, int listening) {
  pollfd entries[2] = {{listening, POLLIN, 0}, {term_pipe[0], POLLIN, 0}};
  const int idle_limit = server.points.idle_limit();
  while (true) {
    ::poll(entries, 2, idle_limit >= 0 ? 1 : -1);
    if (entries[1].revents != 0) return;
    if (idle_limit >= 0 && server.idle_for().count() >= idle_limit) {
      server.points.reach(Moment::Place::idle, idle_limit);
    }
    if ((entries[0].revents & POLLIN) == 0) continue;
    const int connection = ::accept4(listening, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection >= 0) std::thread([&server, connection] { server.serve(connection); }).detach();
  }
}

/// As the real one: no more tokens, and an end when nobody waits for an answer any more.
[[noreturn]] void stop(Server& server, int listening) {
  server.story.tell("term");
  server.points.reach(Moment::Place::term);
  server.log('I', "srv    operator(): operator(): cleaning up before exit...");
  server.stop();
  ::close(listening);
  while (server.active() > 0)
    Server::pause_briefly();
  server.story.tell("exit");
  _exit(0);
}

int serve(Server& server) {
  const auto& script = server.script;
  server.points.reach(Moment::Place::before_listen);  // without a word so far
  server.log('I', script.old_dialect ? "main: starting" : "srv  llama_server: initializing ...");
  const auto& arguments = server.arguments;
  const auto listener = listen_on(arguments.host, arguments.port, !script.no_unix);
  if (listener.descriptor < 0) {
    server.log('E', "srv         start: couldn't bind HTTP server socket, hostname: " +
                        arguments.host + ", port: " + std::to_string(arguments.port));
    server.log('E', "srv  llama_server: exiting due to HTTP server error");
    return 1;
  }
  std::thread([&] {
    if (!server.load()) {
      server.log('E', "srv  llama_server: exiting due to model loading error");
      _exit(1);
    }
    if (!script.ignore_term) watch_for_term();
    server.log('I', script.old_dialect ? "main: server is listening on " + listener.address +
                                             " - starting the main loop"
                                       : "srv  llama_server: listening on " + listener.address);
    server.story.tell("ready", {{"address", listener.address}});
  }).detach();
  take_connections(server, listener.descriptor);
  stop(server, listener.descriptor);
}

int run(int argc, char** argv) {
  Role role{folder_of(argv[0]), {}, false};
  role.flavour = read_flavour(role.folder);
  using Wish = ParsedArguments::Wish;

  // The dialect is the script's, and the script hangs on the role, which is in the arguments.
  auto parsed = parse_arguments(argc, argv, Dialect::today);
  role.on_gpu = is_on_gpu(role.flavour, parsed.arguments);
  if (parsed.wish != Wish::serve) {
    const auto script = read_script(role, {});
    if (parsed.wish == Wish::help) {
      std::cout << help_text(script.old_dialect ? Dialect::old : Dialect::today);
    } else if (parsed.wish == Wish::version) {
      std::cerr << "version: 0.7.0 (build 11669, commit fake)\nbuilt with a compiler for Linux\n";
    } else {
      if (script.device_list == Script::DeviceList::fails) return 1;
      while (script.device_list == Script::DeviceList::hangs)
        ::pause();
      print_devices(script);
    }
    return 0;
  }
  const Story story(role, facts_of_start(argc, argv));
  const auto script = read_script(role, story.incarnation());
  if (script.old_dialect) parsed = parse_arguments(argc, argv, Dialect::old);
  if (parsed.error.empty() && !knows_device(script, parsed.arguments.device)) {
    parsed.error =
        "error while handling argument \"--device\": invalid device: " + parsed.arguments.device +
        "\n\nusage:\n-dev,  --device <dev1,dev2,..>\n\n\n" +
        "to show complete usage, run with -h\n";
  }
  if (!parsed.error.empty()) {
    std::cerr << parsed.error;
    return 1;
  }
  if (script.ignore_term) ::signal(SIGTERM, SIG_IGN);
  make_family(script, story);
  if (::pipe2(term_pipe, O_CLOEXEC) != 0) return 96;
  Server server(parsed.arguments, script, story);
  return serve(server);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    std::cout.flush();
    const int code = run(argc, argv);
    std::cout.flush();
    _exit(code);
  } catch (const std::exception& error) {
    std::cerr << "fake llama-server: " << error.what() << std::endl;
    _exit(99);
  }
}
