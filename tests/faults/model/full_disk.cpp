#include "full_disk.hpp"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace llamavisor::faults {

namespace {

namespace fs = std::filesystem;

/// What the child needs, made before the fork: other threads may hold any lock then.
struct Plan {
  std::string folder;
  std::string users = same_id(::geteuid()), groups = same_id(::getegid());

  static std::string same_id(unsigned id) {
    return std::to_string(id) + " " + std::to_string(id) + " 1";
  }
};

bool put(const char* file, std::string_view text) {
  const int descriptor = ::open(file, O_WRONLY | O_CLOEXEC);
  const bool done = ::write(descriptor, text.data(), text.size()) >= 0;
  ::close(descriptor);
  return done;
}

/// An ordinary user may mount where it is root itself: in a user namespace.
bool become_apart(const Plan& plan) {
  if (::unshare(CLONE_NEWNS) == 0) return true;
  return ::unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 && put("/proc/self/setgroups", "deny") &&
         put("/proc/self/uid_map", plan.users) && put("/proc/self/gid_map", plan.groups);
}

[[noreturn]] void keep_mounted(const Plan& plan, int mounted, int alive) {
  char byte = 0;
  if (become_apart(plan) && ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
      ::mount("full", plan.folder.c_str(), "tmpfs", 0, "size=256k,nr_inodes=64,mode=0777") == 0) {
    byte = 1;
  }
  if (::write(mounted, &byte, 1) == 1 && byte == 1) {
    while (::read(alive, &byte, 1) > 0) {
    }
  }
  ::_exit(0);
}

bool make_file(const fs::path& file) {
  const int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (descriptor < 0) return false;
  const std::vector<char> page(4096, 'x');
  while (::write(descriptor, page.data(), page.size()) > 0) {
  }
  ::close(descriptor);
  return true;
}

}  // namespace

FullDisk::FullDisk() : path_("/proc/self/task") {
  const Plan plan{.folder = folder_.path().string()};
  int mounted[2], alive[2];
  if (::pipe2(mounted, O_CLOEXEC) != 0 || ::pipe2(alive, O_CLOEXEC) != 0) {
    throw std::runtime_error("no pipe");
  }
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("no fork");
  if (child == 0) {
    ::close(alive[1]);
    keep_mounted(plan, mounted[1], alive[0]);
  }
  ::close(mounted[1]);
  ::close(alive[0]);
  char byte = 0;
  const bool told = ::read(mounted[0], &byte, 1) == 1 && byte == 1;
  ::close(mounted[0]);
  const fs::path seen = "/proc/" + std::to_string(child) + "/root" + plan.folder;
  std::error_code unseen;
  if (told && fs::exists(seen, unseen)) {
    keeper_ = child;
    alive_ = alive[1];
    path_ = seen;
    return;
  }
  ::close(alive[1]);
  ::waitpid(child, nullptr, 0);
}

FullDisk::~FullDisk() {
  if (keeper_ < 0) return;
  ::close(alive_);
  ::waitpid(keeper_, nullptr, 0);
}

void FullDisk::fill(int but_for) const {
  if (!mounted()) return;
  fs::create_directory(path_ / "filler");
  int files = 0;
  while (make_file(path_ / "filler" / std::to_string(files)))
    ++files;
  for (int spare = 1; spare <= but_for; ++spare) {
    // The last ones are empty: what they give back is a name, and no room for content.
    fs::remove(path_ / "filler" / std::to_string(files - spare));
  }
}

void FullDisk::make_room() const {
  if (mounted()) fs::remove_all(path_ / "filler");
}

}  // namespace llamavisor::faults
