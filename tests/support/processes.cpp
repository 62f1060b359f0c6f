#include "processes.hpp"

#include "temporary_folder.hpp"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace llamavisor::test {

namespace {

namespace fs = std::filesystem;

struct Stat {
  char state = 'X';
  pid_t parent = 0;
  unsigned long long started = 0;
};

std::optional<Stat> stat_of(pid_t process) {
  const auto text = read_file("/proc/" + std::to_string(process) + "/stat");
  const auto end_of_name = text.rfind(')');
  if (end_of_name == std::string::npos) return std::nullopt;
  std::istringstream rest(text.substr(end_of_name + 1));
  Stat stat;
  rest >> stat.state >> stat.parent;
  std::string skipped;
  for (int field = 5; field < 22; ++field)
    rest >> skipped;
  rest >> stat.started;
  return stat;
}

std::vector<std::string> split_at_nul(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, '\0');)
    parts.push_back(part);
  return parts;
}

/// Children with the time of their start, oldest first.
std::vector<std::pair<pid_t, Stat>> children_of(pid_t parent) {
  std::vector<std::pair<pid_t, Stat>> children;
  std::error_code gone;
  for (const auto& entry : fs::directory_iterator("/proc", gone)) {
    const auto name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const auto process = static_cast<pid_t>(std::stol(name));
    const auto stat = stat_of(process);
    if (stat && stat->parent == parent) children.emplace_back(process, *stat);
  }
  std::sort(children.begin(), children.end(), [](const auto& a, const auto& b) {
    return std::pair(a.second.started, a.first) < std::pair(b.second.started, b.first);
  });
  return children;
}

}  // namespace

void wait_until(std::string_view what, const std::function<bool()>& holds) {
  const auto limit = std::chrono::steady_clock::now() + hang_guard;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > limit) {
      throw std::runtime_error("waited in vain until " + std::string(what));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
  }
}

std::vector<pid_t> servers_of(pid_t parent) {
  std::vector<pid_t> servers;
  for (const auto& [process, stat] : children_of(parent)) {
    if (stat.state == 'Z' || stat.state == 'X') continue;
    // Between vfork() and execve() a child still has our command line.
    if (!argument_of(process, "--alias").empty()) servers.push_back(process);
  }
  return servers;
}

std::vector<pid_t> own_servers() {
  return servers_of(::getpid());
}

pid_t own_server() {
  const auto servers = own_servers();
  if (servers.size() != 1) {
    throw std::runtime_error("there are " + std::to_string(servers.size()) + " servers, not one");
  }
  return servers.front();
}

std::size_t own_children() {
  return children_of(::getpid()).size();
}

bool own_child_has(std::string_view argument) {
  const auto children = children_of(::getpid());
  return std::any_of(children.begin(), children.end(), [&](const auto& child) {
    const auto arguments = arguments_of(child.first);
    return std::find(arguments.begin(), arguments.end(), argument) != arguments.end();
  });
}

std::vector<std::string> arguments_of(pid_t process) {
  return split_at_nul(read_file("/proc/" + std::to_string(process) + "/cmdline"));
}

std::string argument_of(pid_t process, std::string_view flag) {
  const auto arguments = arguments_of(process);
  const auto found = std::find(arguments.begin(), arguments.end(), flag);
  if (found == arguments.end() || found + 1 == arguments.end()) return {};
  return *(found + 1);
}

std::string environment_of(pid_t process, const std::string& variable) {
  const auto wanted = variable + "=";
  for (const auto& entry :
       split_at_nul(read_file("/proc/" + std::to_string(process) + "/environ"))) {
    if (entry.starts_with(wanted)) return entry.substr(wanted.size());
  }
  return {};
}

bool has_ended(pid_t process) {
  const auto stat = stat_of(process);
  return !stat || stat->state == 'Z' || stat->state == 'X';
}

void wait_until_ended(pid_t process) {
  wait_until("process " + std::to_string(process) + " has ended",
             [&] { return has_ended(process); });
}

void kill_and_wait(pid_t process, int signal) {
  if (::kill(process, signal) != 0) throw std::runtime_error("the server is gone already");
  wait_until_ended(process);
}

std::size_t open_descriptors() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator("/proc/self/fd"))
    ++count;
  return count;
}

ScopedVariable::ScopedVariable(std::string name, const std::string& value)
    : name_(std::move(name)) {
  const char* before = ::getenv(name_.c_str());
  was_set_ = before != nullptr;
  if (before) before_ = before;
  ::setenv(name_.c_str(), value.c_str(), 1);
}

ScopedVariable::~ScopedVariable() {
  if (was_set_) {
    ::setenv(name_.c_str(), before_.c_str(), 1);
  } else {
    ::unsetenv(name_.c_str());
  }
}

void leave_the_users_state_alone() {
  struct State {
    TemporaryFolder folder;
    State() {
      ::setenv("XDG_STATE_HOME", folder.path().c_str(), 1);
      for (const char* variable : {"LLAMAVISOR_DEVICE", "LLAMAVISOR_ENGINE_PATH",
                                   "ROCM_LLAMA_SERVER_PATH", "XDG_RUNTIME_DIR"})
        ::unsetenv(variable);
    }
  };
  static const State once;
}

}  // namespace llamavisor::test
