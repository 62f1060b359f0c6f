#include "running_fake.hpp"

#include "fake_engine.hpp"
#include "fake_model.hpp"

#include <boost/json.hpp>

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <stdexcept>

namespace llamavisor::testing {
namespace {

namespace json = boost::json;

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> list;
  for (auto& text : texts)
    list.push_back(text.data());
  list.push_back(nullptr);
  return list;
}

int connect_to(const std::filesystem::path& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  const int descriptor = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (::connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    return descriptor;
  }
  ::close(descriptor);
  return -1;
}

/// Takes the chunks out of a body; true when the last one was there.
bool unchunk(std::string_view raw, std::string& body) {
  while (true) {
    const auto end = raw.find("\r\n");
    if (end == std::string_view::npos) return false;
    std::size_t size = 0;
    std::from_chars(raw.data(), raw.data() + end, size, 16);
    if (size == 0) return true;
    if (raw.size() < end + 2 + size + 2) return false;
    body += raw.substr(end + 2, size);
    raw.remove_prefix(end + 2 + size + 2);
  }
}

void read_events(RawAnswer& answer) {
  std::string_view rest = answer.body;
  for (std::size_t end = 0; (end = rest.find("\n\n")) != std::string_view::npos;
       rest.remove_prefix(end + 2)) {
    const auto event = rest.substr(0, end);
    if (event.starts_with("data: ")) {
      answer.events.push_back(json::parse(event.substr(6)).as_object());
    }
  }
}

RawAnswer understand(std::string_view raw, bool reset) {
  RawAnswer answer;
  answer.reset = reset;
  const auto end = raw.find("\r\n\r\n");
  if (end == std::string_view::npos) return answer;
  answer.head = raw.substr(0, end);
  std::from_chars(raw.data() + 9, raw.data() + 12, answer.status);
  const auto rest = raw.substr(end + 4);
  if (answer.head.find("chunked") == std::string::npos) {
    answer.body = rest;
    answer.complete = true;
    return answer;
  }
  answer.complete = unchunk(rest, answer.body);
  read_events(answer);
  return answer;
}

}  // namespace

json::object RawAnswer::json() const {
  return json::parse(body).as_object();
}

RunningFake::RunningFake(std::string_view words, std::vector<std::string> arguments)
    : story_(folder_ / "story"), socket_(folder_ / "s.sock") {
  std::vector<std::string> command{fake_server().string(), "--model",
                                   write_fake_model(folder_ / "m.gguf").string(), "--host",
                                   socket_.string()};
  command.insert(command.end(), arguments.begin(), arguments.end());
  std::vector<std::string> environment{"FAKE_SERVER=" + std::string(words),
                                       "FAKE_SERVER_LOG=" + story_.file().string()};
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  const auto output = (folder_ / "stderr").string();
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, output.c_str(), O_WRONLY | O_CREAT,
                                     0600);
  auto argv = pointers(command), envp = pointers(environment);
  const int error = ::posix_spawn(&pid_, argv[0], &actions, nullptr, argv.data(), envp.data());
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::runtime_error("cannot start " + command.front());
}

RunningFake::~RunningFake() {
  if (!ended_) ::kill(pid_, SIGKILL);
  wait_for_end();
}

bool RunningFake::has_ended() {
  if (!ended_) ended_ = ::waitpid(pid_, &status_, WNOHANG) == pid_;
  return ended_;
}

bool RunningFake::wait_until_ready() {
  wait_until([this] { return has_ended() || !story_.events("ready").empty(); });
  return !has_ended();
}

void RunningFake::send_signal(int signal) const {
  ::kill(pid_, signal);
}

int RunningFake::wait_for_end() {
  if (!ended_) ::waitpid(pid_, &status_, 0);
  ended_ = true;
  return WIFSIGNALED(status_) ? -WTERMSIG(status_) : WEXITSTATUS(status_);
}

RawAnswer RunningFake::request(std::string_view path, std::string_view body) const {
  const int descriptor = connect_to(socket_);
  if (descriptor < 0) return {};
  std::string text = body.empty() ? "GET " : "POST ";
  text.append(path).append(" HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: ");
  text.append(std::to_string(body.size())).append("\r\n\r\n").append(body);
  if (::send(descriptor, text.data(), text.size(), MSG_NOSIGNAL) < 0) {
    ::close(descriptor);
    return {};
  }
  std::string raw;
  char block[65536];
  ssize_t count = 0;
  while ((count = ::recv(descriptor, block, sizeof block, 0)) > 0) {
    raw.append(block, static_cast<std::size_t>(count));
  }
  const bool reset = count < 0 && errno == ECONNRESET;
  ::close(descriptor);
  return understand(raw, reset);
}

}  // namespace llamavisor::testing
