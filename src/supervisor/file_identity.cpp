#include "supervisor/file_identity.hpp"

#include <sys/stat.h>

namespace llamavisor::supervisor {

FileIdentity FileIdentity::of(const std::filesystem::path& file) {
  struct stat facts {};
  if (::stat(file.c_str(), &facts) != 0) return {};
  return {.device = facts.st_dev,
          .inode = facts.st_ino,
          .size = facts.st_size,
          .changed_s = facts.st_mtim.tv_sec,
          .changed_ns = facts.st_mtim.tv_nsec};
}

}  // namespace llamavisor::supervisor
