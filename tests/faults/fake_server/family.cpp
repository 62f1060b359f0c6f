#include "family.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fake {
namespace {

/// No relative outlives a test run by more than this, even when a test fails.
constexpr unsigned longest_life_s = 60;

/// A child that does nothing but live.
void make_idler(const Story& story, const char* event, bool own_session, bool keep_output) {
  if (::fork() != 0) return;
  ::signal(SIGTERM, SIG_IGN);
  ::alarm(longest_life_s);
  if (own_session) ::setsid();
  if (!keep_output) {
    const int nowhere = ::open("/dev/null", O_RDWR);
    ::dup2(nowhere, STDOUT_FILENO);
    ::dup2(nowhere, STDERR_FILENO);
  }
  story.tell(event);
  while (true)
    ::pause();
}

/// The serving process becomes a grandchild, as under a wrapper script. The one between does not
/// pass on any signal.
void fork_twice(bool parent_waits) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(longest_life_s);
    return;
  }
  if (!parent_waits) _exit(0);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
  }
  _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

}  // namespace

void make_family(const Script& script, const Story& story) {
  if (script.keep_pipes) make_idler(story, "pipe_keeper", false, true);
  if (script.setsid_grandchild) make_idler(story, "setsid_grandchild", true, false);
  if (script.double_fork != Script::DoubleFork::no) {
    fork_twice(script.double_fork == Script::DoubleFork::parent_waits);
    story.tell("serving");
  }
}

}  // namespace fake
