// A program to be spawned: it shows how it was started, or misbehaves in one way.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

extern char** environ;

namespace {

namespace fs = std::filesystem;
using Arguments = std::vector<std::string>;

void say(const std::string& line) {
  std::fputs((line + "\n").c_str(), stdout);
  std::fflush(stdout);
}

void wait_for_ever() {
  while (true)
    ::pause();
}

// "name value" lines: what a child inherits, as it finds it.
int report(const Arguments& arguments) {
  // Listed before anything is opened here.
  std::vector<std::string> open_descriptors;
  for (int number = 0; number < 4096; ++number) {
    if (::fcntl(number, F_GETFD) >= 0) open_descriptors.push_back(std::to_string(number));
  }
  std::string joined;
  for (const auto& number : open_descriptors)
    joined += (joined.empty() ? "" : ",") + number;
  say("descriptors " + joined);
  say("stdin " + fs::read_symlink("/proc/self/fd/0").string());
  say("pid " + std::to_string(::getpid()));
  say("parent " + std::to_string(::getppid()));
  say("group " + std::to_string(::getpgrp()));
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    for (const std::string_view name : {"SigPnd", "ShdPnd", "SigBlk", "SigIgn", "SigCgt"}) {
      if (line.starts_with(name)) {
        say(std::string(name) + " " + line.substr(line.find_first_not_of(" \t", name.size() + 1)));
      }
    }
  }
  int death_signal = 0;
  ::prctl(PR_GET_PDEATHSIG, &death_signal);
  say("death_signal " + std::to_string(death_signal));
  std::string score;
  std::ifstream("/proc/self/oom_score_adj") >> score;
  say("oom_score_adj " + score);
  say("directory " + fs::current_path().string());
  for (const auto& argument : arguments)
    say("argument " + argument);
  for (char** entry = environ; *entry != nullptr; ++entry)
    say(std::string("env ") + *entry);
  return 0;
}

int end_with_code(const Arguments& arguments) {
  return std::stoi(arguments.at(0));
}

int end_with_signal(const Arguments& arguments) {
  say("about to end");
  ::raise(std::stoi(arguments.at(0)));
  return 99;
}

volatile sig_atomic_t terms = 0;
volatile sig_atomic_t pings = 0;

// Ends on TERM, and answers USR1 by a line.
int polite(const Arguments&) {
  sigset_t handled;
  sigemptyset(&handled);
  for (const int signal : {SIGTERM, SIGUSR1, SIGCONT})
    sigaddset(&handled, signal);
  ::sigprocmask(SIG_BLOCK, &handled, nullptr);
  say("ready");
  while (true) {
    int signal = 0;
    ::sigwait(&handled, &signal);
    if (signal == SIGUSR1) say("pong");
    if (signal == SIGTERM) {
      say("TERM");
      return 0;
    }
  }
}

// Writes a line for each TERM, and goes on.
int deaf(const Arguments&) {
  struct sigaction count = {};
  count.sa_handler = [](int) { terms = terms + 1; };
  ::sigaction(SIGTERM, &count, nullptr);
  sigset_t term, before;
  sigemptyset(&term);
  sigaddset(&term, SIGTERM);
  ::sigprocmask(SIG_BLOCK, &term, &before);
  say("ready");
  while (true) {
    ::sigsuspend(&before);
    say("TERM " + std::to_string(static_cast<int>(terms)));
  }
}

// Stands still: only SIGCONT lets it see a TERM.
int stopped(const Arguments&) {
  say("ready");
  ::raise(SIGSTOP);
  say("continued");
  wait_for_ever();
  return 0;
}

// Leaves a grandchild behind that stays in the group, and ends.
int leave_grandchild(const Arguments&) {
  const pid_t grandchild = ::fork();
  if (grandchild == 0) wait_for_ever();
  say("grandchild " + std::to_string(grandchild));
  return 3;
}

// Until a byte comes, or the other end is closed.
void wait_for(int descriptor) {
  char byte;
  while (::read(descriptor, &byte, 1) < 0 && errno == EINTR) {
  }
}

// Leaves one behind that has left the group and floods the pipe that it has kept, until nobody
// reads it any more. It has left before we end, or it would end with the group; and it floods after
// our line is out, which within the flood would not be a line.
int leave_escaped_flood(const Arguments&) {
  int left[2], told[2];
  if (::pipe(left) != 0 || ::pipe(told) != 0) return 1;
  const pid_t grandchild = ::fork();
  if (grandchild == 0) {
    ::setsid();
    ::close(left[1]);
    ::close(told[1]);
    wait_for(told[0]);
    const std::string line(100, 'x');
    while (std::puts(line.c_str()) >= 0) {
    }
    ::_exit(0);
  }
  ::close(left[1]);
  wait_for(left[0]);
  say("grandchild " + std::to_string(grandchild));
  return 3;  // which closes told[1]
}

// A parent that waits, and a grandchild in the group that takes no TERM.
int keep_deaf_grandchild(const Arguments&) {
  ::signal(SIGTERM, SIG_IGN);  // before the fork: the grandchild is deaf from its first moment
  const pid_t grandchild = ::fork();
  if (grandchild == 0) wait_for_ever();
  ::signal(SIGTERM, SIG_DFL);
  say("grandchild " + std::to_string(grandchild));
  wait_for_ever();
  return 0;
}

// Takes no HUP itself, and tells what ends its grandchild.
int watch_grandchild(const Arguments&) {
  ::signal(SIGHUP, SIG_IGN);
  const pid_t grandchild = ::fork();
  if (grandchild == 0) {
    ::signal(SIGHUP, SIG_DFL);
    say("ready");
    wait_for_ever();
  }
  int status = 0;
  ::waitpid(grandchild, &status, 0);
  say("grandchild ended by " + std::to_string(WTERMSIG(status)));
  wait_for_ever();
  return 0;
}

// The number of MiB on stderr, as lines or as one endless line, then a last line.
int flood(const Arguments& arguments) {
  const bool lines = arguments.at(1) == "lines";
  std::string block(1 << 20, 'x');
  for (std::size_t at = 99; lines && at < block.size(); at += 100)
    block[at] = '\n';
  for (int count = std::stoi(arguments.at(0)); count > 0; --count) {
    if (::write(2, block.data(), block.size()) < 0) return 1;
  }
  if (::write(2, "\nlast\n", 6) < 0) return 1;
  return 0;
}

int read_stdin(const Arguments&) {
  char buffer[16];
  const ssize_t size = ::read(0, buffer, sizeof buffer);
  say("read " + std::to_string(size));
  return 0;
}

int both_streams(const Arguments&) {
  const std::string half = "half of a line of stdout, ", rest = "and the rest\n";
  if (::write(1, half.data(), half.size()) < 0) return 1;
  if (::write(2, "a line of stderr\n", 17) < 0) return 1;
  if (::write(1, rest.data(), rest.size()) < 0) return 1;
  if (::write(2, "no newline at the end", 21) < 0) return 1;
  return 0;
}

// Says nothing but dots, without a line's end, then waits.
int dots(const Arguments&) {
  if (::write(2, "....", 4) < 0) return 1;
  wait_for_ever();
  return 0;
}

int close_streams(const Arguments&) {
  ::close(1);
  ::close(2);
  wait_for_ever();
  return 0;
}

int listen_on_loopback(const Arguments&) {
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (::bind(listener, reinterpret_cast<sockaddr*>(&address), size) != 0) return 1;
  if (::listen(listener, 1) != 0) return 1;
  if (::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) != 0) return 1;
  say("port " + std::to_string(ntohs(address.sin_port)));
  wait_for_ever();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string_view, std::function<int(const Arguments&)>> modes = {
      {"report", report},
      {"exit", end_with_code},
      {"signal", end_with_signal},
      {"polite", polite},
      {"deaf", deaf},
      {"stopped", stopped},
      {"leave-grandchild", leave_grandchild},
      {"leave-escaped-flood", leave_escaped_flood},
      {"keep-deaf-grandchild", keep_deaf_grandchild},
      {"watch-grandchild", watch_grandchild},
      {"flood", flood},
      {"read-stdin", read_stdin},
      {"both-streams", both_streams},
      {"dots", dots},
      {"close-streams", close_streams},
      {"listen", listen_on_loopback},
  };
  const auto mode = argc > 1 ? modes.find(argv[1]) : modes.end();
  if (mode == modes.end()) return 64;
  return mode->second(Arguments(argv + 2, argv + argc));
}
