#include "supervisor/private_folder.hpp"

#include <llamavisor/error.hpp>

#include <fmt/format.h>

#include <stdlib.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

namespace llamavisor::supervisor {

namespace {

std::filesystem::path make_below(const std::filesystem::path& parent) {
  auto name = (parent / "llamavisor-XXXXXX").string();
  return ::mkdtemp(name.data()) ? name : std::string{};
}

std::vector<std::filesystem::path> candidates(const std::filesystem::path& parent) {
  if (!parent.empty()) return {std::filesystem::absolute(parent)};
  std::vector<std::filesystem::path> places;
  if (const char* runtime = std::getenv("XDG_RUNTIME_DIR"); runtime && *runtime == '/') {
    places.emplace_back(runtime);
  }
  std::error_code error;
  if (auto temporary = std::filesystem::temp_directory_path(error); !error) {
    places.push_back(std::move(temporary));
  }
  return places;
}

}  // namespace

PrivateFolder PrivateFolder::make(const std::filesystem::path& parent) {
  PrivateFolder folder;
  int reason = ENOENT;
  const auto places = candidates(parent);
  for (const auto& place : places) {
    folder.path_ = make_below(place);
    if (folder) return folder;
    reason = errno;
  }
  const bool full = reason == ENOSPC || reason == EDQUOT;
  throw Error(errc::invalid_option,
              fmt::format("cannot make a folder for the server's socket in {}: {}; {} as "
                          "LoadOptions::runtime_dir",
                          places.empty() ? "any temporary folder" : places.back().string(),
                          std::strerror(reason),
                          full ? "make room there, or give a folder on another disk"
                               : "give a folder that you may write to"));
}

PrivateFolder::PrivateFolder(PrivateFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})) {}

PrivateFolder& PrivateFolder::operator=(PrivateFolder&& other) noexcept {
  std::swap(path_, other.path_);
  return *this;
}

PrivateFolder::~PrivateFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace llamavisor::supervisor
