#include <llamavisor/engine.hpp>
#include <llamavisor/error.hpp>

#include "engine/pack_description.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

namespace llamavisor {
namespace {

namespace fs = std::filesystem;
using engine::PackDescription;

/// A refusal of this one folder, with the command that mends it.
class Refusal {
 public:
  explicit Refusal(const fs::path& folder) : folder_(folder) {}

  void know_flavour(std::string flavour) { flavour_ = std::move(flavour); }

  [[noreturn]] void operator()(std::string_view why) const {
    throw Error(errc::engine_broken,
                fmt::format("the engine pack {} cannot be used: {}; make it anew with: "
                            "tools/get-engine {}",
                            folder_.string(), why, flavour_));
  }

 private:
  fs::path folder_;
  std::string flavour_ = "<flavour>";
};

std::string system_text(int error) {
  return std::generic_category().message(error);
}

/// The whole file. O_NONBLOCK, because a FIFO of that name would block for ever.
std::string read_description(const fs::path& file, const Refusal& refuse) {
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) {
    refuse(errno == ENOENT
               ? "it has no engine.json"
               : fmt::format("its engine.json cannot be opened ({})", system_text(errno)));
  }
  std::string text;
  std::array<char, 1 << 14> block;
  ssize_t count = 0;
  while (text.size() <= engine::max_description_size) {
    count = ::read(descriptor, block.data(), block.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    text.append(block.data(), static_cast<std::size_t>(count));
  }
  const int error = errno;
  ::close(descriptor);
  if (count < 0) refuse(fmt::format("its engine.json cannot be read ({})", system_text(error)));
  return text;
}

PackDescription parse(const std::string& text, const Refusal& refuse) {
  try {
    return engine::parse_pack_description(text);
  } catch (const Error& error) {
    refuse(error.what());
  }
}

/// A file of the pack that must be there and may have to be executable.
void check_file(const fs::path& file, bool must_run, const Refusal& refuse) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) {
    refuse(fmt::format("{} is not there ({})", file.filename().string(), system_text(errno)));
  }
  if (!S_ISREG(status.st_mode)) {
    refuse(fmt::format("{} is not a file", file.filename().string()));
  }
  // By the mode, since to root access() grants what execve() then refuses.
  if (must_run && (status.st_mode & (S_IXUSR | S_IXGRP | S_IXOTH)) == 0) {
    refuse(fmt::format("{} is not executable", file.filename().string()));
  }
  if (::access(file.c_str(), must_run ? X_OK : R_OK) != 0) {
    refuse(fmt::format("{} may not be used ({})", file.filename().string(), system_text(errno)));
  }
}

bool same_place(const fs::path& one, const fs::path& other) {
  std::error_code error;
  return fs::equivalent(one, other, error) && !error;
}

/// The interpreter path inside an executable is absolute, so a pack that was moved can only be
/// started by naming its loader: without that, execve() says ENOENT of a file that is there.
std::vector<std::string> start_command(const PackDescription& pack, const fs::path& folder,
                                       const Refusal& refuse) {
  const auto executable = folder / pack.executable;
  const bool moved = !pack.loader.empty() && !same_place(pack.path, folder);
  const bool by_loader = pack.start_by_loader || moved;
  if (!pack.loader.empty()) check_file(folder / pack.loader, true, refuse);
  check_file(executable, !by_loader, refuse);
  if (!by_loader) return {executable.string()};
  return {(folder / pack.loader).string(), executable.string()};
}

}  // namespace

Engine read_engine(const fs::path& folder) {
  std::error_code error;
  auto place = fs::absolute(folder, error).lexically_normal();
  if (place.filename().empty()) place = place.parent_path();  // "pack/" is "pack"
  Refusal refuse(place);
  if (error) refuse(error.message());
  if (!fs::is_directory(place, error)) {
    refuse(fs::exists(place, error) ? "it is not a folder" : "there is no such folder");
  }
  auto pack = parse(read_description(place / engine::description_name, refuse), refuse);
  refuse.know_flavour(pack.flavour);

  Engine result;
  result.command = start_command(pack, place, refuse);
  result.flavour = std::move(pack.flavour);
  result.build = pack.build;
  result.version = std::move(pack.version);
  result.folder = std::move(place);
  result.flags = std::move(pack.flags);
  result.gfx_targets = std::move(pack.gfx_targets);
  result.source = std::move(pack.source);
  return result;
}

}  // namespace llamavisor
