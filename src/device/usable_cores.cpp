#include "device/usable_cores.hpp"

#include "device/cgroup.hpp"
#include "device/sysfs.hpp"

#include <sched.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <string>
#include <thread>

namespace llamavisor::device {

namespace {

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
        first_line(root / "sys/devices/system/cpu" / name / "topology/thread_siblings_list");
    cores.insert(siblings.empty() ? name : siblings);
  }
  return static_cast<int>(cores.size());
}

/// The tightest "quota period" of cgroup v2 from this process's group up; 0 where there is none.
double cgroup_quota(const std::filesystem::path& root) {
  double tightest = 0;
  for_each_cgroup(root, [&](const std::filesystem::path& group) {
    std::istringstream text(first_line(group / "cpu.max"));
    double quota = 0, period = 0;
    if (!(text >> quota >> period) || quota <= 0 || period <= 0) return;
    tightest = tightest > 0 ? std::min(tightest, quota / period) : quota / period;
  });
  return tightest;
}

}  // namespace

int usable_cores(const std::filesystem::path& root) {
  const int cores = std::max(1, physical_cores(root));
  const double quota = cgroup_quota(root);
  return quota > 0 ? std::clamp(static_cast<int>(quota), 1, cores) : cores;
}

}  // namespace llamavisor::device
