#include "device/cgroup.hpp"

#include <fstream>
#include <string>

namespace llamavisor::device {

void for_each_cgroup(const std::filesystem::path& root,
                     const std::function<void(const std::filesystem::path& folder)>& visit) {
  std::ifstream groups(root / "proc/self/cgroup");
  std::string line;
  while (std::getline(groups, line)) {
    if (!line.starts_with("0::/")) continue;
    for (std::filesystem::path group = line.substr(4);; group = group.parent_path()) {
      visit(root / "sys/fs/cgroup" / group);
      if (group.empty()) break;
    }
  }
}

}  // namespace llamavisor::device
