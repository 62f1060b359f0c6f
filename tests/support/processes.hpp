// Processes, seen from outside: the library hides its servers' ids, so a test looks for them.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace llamavisor::test {

/// Longer than anything takes that works, on the slowest machine: only a fault reaches it.
inline constexpr std::chrono::seconds hang_guard{120};

/// Looks again and again, for what no event tells. Throws at the hang guard.
void wait_until(std::string_view what, const std::function<bool()>& holds);

/// llama-servers that are children of a process and live (a zombie does not), oldest first.
std::vector<pid_t> servers_of(pid_t parent);
std::vector<pid_t> own_servers();

/// The only one; throws when there is none, or another.
pid_t own_server();

/// Every child of ours, zombies too.
std::size_t own_children();

/// Whether a child of ours that lives has this argument on its command line.
bool own_child_has(std::string_view argument);

std::vector<std::string> arguments_of(pid_t process);

/// What follows a flag on a command line; empty where the flag is not there.
std::string argument_of(pid_t process, std::string_view flag);

/// Empty where it is not set.
std::string environment_of(pid_t process, const std::string& variable);

/// Gone, or a zombie.
bool has_ended(pid_t process);
void wait_until_ended(pid_t process);

/// Ends a server, and waits until it is gone.
void kill_and_wait(pid_t process, int signal);

/// Open descriptors of this process.
std::size_t open_descriptors();

/// Sets a variable of our own environment for as long as it lives.
class ScopedVariable {
 public:
  ScopedVariable(std::string name, const std::string& value);
  ~ScopedVariable();
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;

 private:
  std::string name_, before_;
  bool was_set_;
};

/// Tests do not touch what the user's hosts share: the quarantine of devices lies in a state folder
/// of our own, and the variables that steer the library are unset. Once is enough.
void leave_the_users_state_alone();

}  // namespace llamavisor::test
