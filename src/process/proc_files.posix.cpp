#include "process/proc_files.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <unistd.h>

#include <charconv>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>

namespace llamavisor::process {
namespace {

namespace fs = std::filesystem;

template <typename Number>
std::optional<Number> parse(std::string_view text, int base) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// "socket:[12345]"
std::set<std::uint64_t> socket_inodes(const fs::path& descriptors) {
  constexpr std::string_view prefix = "socket:[";
  std::set<std::uint64_t> inodes;
  std::error_code error;
  const fs::directory_iterator end;
  for (fs::directory_iterator entry(descriptors, error); !error && entry != end;
       entry.increment(error)) {
    std::error_code gone;  // closed meanwhile: another one is not hidden by it
    const std::string target = fs::read_symlink(entry->path(), gone);
    if (gone || !target.starts_with(prefix) || !target.ends_with(']')) continue;
    const auto digits =
        std::string_view(target).substr(prefix.size(), target.size() - prefix.size() - 1);
    if (const auto inode = parse<std::uint64_t>(digits, 10)) inodes.insert(*inode);
  }
  return inodes;
}

}  // namespace

std::uint64_t resident_memory(const fs::path& proc, std::int64_t pid) {
  std::ifstream file(proc / std::to_string(pid) / "statm");
  std::uint64_t total = 0, resident = 0;
  if (!(file >> total >> resident)) return 0;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

namespace {

// What is used of "pid (name) state ppid pgrp ... utime stime": fields 3, 5, 14 and 15, counted
// from 1 (proc(5)). The name may hold spaces and brackets, so the fields are counted from the last
// bracket on.
struct Stat {
  char state = 0;
  std::int64_t group = 0;
  std::uint64_t ticks = 0;  ///< in user and kernel mode
};

Stat read_stat(const fs::path& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  const auto bracket = line.rfind(')');
  if (bracket == std::string::npos) return {};
  std::istringstream fields(line.substr(bracket + 1));
  Stat stat;
  std::string skipped;
  std::uint64_t user = 0, kernel = 0;
  fields >> stat.state >> skipped >> stat.group;
  for (int field = 6; field < 14; ++field)
    fields >> skipped;
  if (!(fields >> user >> kernel)) return {};
  stat.ticks = user + kernel;
  return stat;
}

// Calls `use(folder, stat)` for each process or thread below a folder, until it answers false.
template <typename Use>
void for_each_task(const fs::path& folder, const Use& use) {
  std::error_code error;
  const fs::directory_iterator end;
  for (fs::directory_iterator entry(folder, error); !error && entry != end;
       entry.increment(error)) {
    if (!parse<std::int64_t>(entry->path().filename().string(), 10)) continue;
    if (!use(entry->path(), read_stat(entry->path() / "stat"))) return;
  }
}

}  // namespace

std::chrono::milliseconds processor_time(const fs::path& proc, std::int64_t group) {
  std::uint64_t ticks = 0;
  for_each_task(proc, [&](const fs::path&, const Stat& process) {
    if (process.group == group) ticks += process.ticks;
    return true;
  });
  return std::chrono::milliseconds(ticks * 1000 /
                                   static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK)));
}

bool wants_processor(const fs::path& proc, std::int64_t group) {
  bool wants = false;
  for_each_task(proc, [&](const fs::path& folder, const Stat& process) {
    if (process.group != group) return true;
    for_each_task(folder / "task", [&](const fs::path&, const Stat& thread) {
      wants = thread.state == 'R';
      return !wants;
    });
    return !wants;
  });
  return wants;
}

// A line: "0: 0100007F:1F90 00000000:0000 0A queues timer retransmits uid timeout inode ...". The
// address is the number as it lies in memory, so its text depends on the machine's byte order.
std::optional<std::uint16_t> listening_tcp_port(const fs::path& proc, std::int64_t pid) {
  constexpr std::string_view listening = "0A";
  const std::uint32_t loopback = htonl(INADDR_LOOPBACK);
  const fs::path process = proc / std::to_string(pid);
  const auto inodes = socket_inodes(process / "fd");
  if (inodes.empty()) return std::nullopt;
  std::ifstream table(process / "net" / "tcp");
  std::string line;
  std::getline(table, line);  // the names of the columns
  while (std::getline(table, line)) {
    std::istringstream fields(line);
    std::string number, local, remote, state, queues, timer, retransmits, user, timeout;
    std::uint64_t inode = 0;
    if (!(fields >> number >> local >> remote >> state >> queues >> timer >> retransmits >> user >>
          timeout >> inode)) {
      continue;
    }
    const auto colon = local.find(':');
    if (state != listening || colon == std::string::npos || !inodes.contains(inode)) continue;
    const std::string_view address = std::string_view(local).substr(0, colon);
    const std::string_view port = std::string_view(local).substr(colon + 1);
    if (parse<std::uint32_t>(address, 16) == loopback) return parse<std::uint16_t>(port, 16);
  }
  return std::nullopt;
}

}  // namespace llamavisor::process
