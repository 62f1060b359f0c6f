#include "device/usable_cores.hpp"

#include <sched.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <thread>

namespace llamavisor::device {

namespace {

std::string read_line(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

/// Cores, each named by the list of its hardware threads ("0,4").
int physical_cores(const std::filesystem::path& root) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  // More than CPU_SETSIZE processors make this fail: then all are taken as usable.
  if (::sched_getaffinity(0, sizeof(mask), &mask) != 0) {
    return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  }
  std::set<std::string> cores;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &mask)) continue;
    const auto name = "cpu" + std::to_string(cpu);
    const auto siblings =
        read_line(root / "sys/devices/system/cpu" / name / "topology/thread_siblings_list");
    cores.insert(siblings.empty() ? name : siblings);
  }
  return static_cast<int>(cores.size());
}

/// The tightest "quota period" of cgroup v2 from this process's group up; 0 where there is none.
double cgroup_quota(const std::filesystem::path& root) {
  std::ifstream groups(root / "proc/self/cgroup");
  std::string line;
  double tightest = 0;
  while (std::getline(groups, line)) {
    if (!line.starts_with("0::/")) continue;
    for (std::filesystem::path group = line.substr(4);; group = group.parent_path()) {
      std::istringstream text(read_line(root / "sys/fs/cgroup" / group / "cpu.max"));
      double quota = 0, period = 0;
      if (text >> quota >> period && quota > 0 && period > 0) {
        tightest = tightest > 0 ? std::min(tightest, quota / period) : quota / period;
      }
      if (group.empty()) break;
    }
  }
  return tightest;
}

}  // namespace

int usable_cores(const std::filesystem::path& root) {
  const int cores = std::max(1, physical_cores(root));
  const double quota = cgroup_quota(root);
  return quota > 0 ? std::clamp(static_cast<int>(quota), 1, cores) : cores;
}

}  // namespace llamavisor::device
