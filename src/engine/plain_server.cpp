#include "engine/plain_server.hpp"

#include "engine/pack_description.hpp"
#include "engine/path_list.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <system_error>

namespace llamavisor::engine {

namespace {

namespace fs = std::filesystem;

struct Sign {
  std::string_view flavour;
  std::string_view plugin;                 ///< ggml's library for it
  std::array<std::string_view, 2> linked;  ///< what only a program with that back end inside needs
};

constexpr std::array signs{
    Sign{"hip", "libggml-hip.so", {"libamdhip64.so", "libggml-hip.so"}},
    Sign{"cuda", "libggml-cuda.so", {"libcudart.so", "libggml-cuda.so"}},
    Sign{"vulkan", "libggml-vulkan.so", {"libvulkan.so", "libggml-vulkan.so"}},
};

/// Where a llama-server's libraries lie: beside it, as in a build tree; or in the lib folder beside
/// its bin, under the machine's name in Debian's way; ggml's plug-ins in folders below that.
std::vector<fs::path> library_folders(const fs::path& server) {
  std::vector<fs::path> folders{server.parent_path()};
  const auto prefix = server.parent_path().parent_path();
  std::error_code error;
  for (const auto* lib : {"lib", "lib64"}) {
    folders.push_back(prefix / lib);
    for (fs::directory_iterator entry(prefix / lib, error), end; !error && entry != end;
         entry.increment(error)) {
      const auto name = entry->path().filename().string();
      if (name.find("-linux-") != std::string::npos) folders.push_back(entry->path());
    }
  }
  for (std::size_t i = 0, count = folders.size(); i < count; ++i) {
    const auto plugins = folders[i] / "ggml";
    folders.push_back(plugins);
    for (fs::directory_iterator entry(plugins, error), end; !error && entry != end;
         entry.increment(error)) {
      std::error_code ignored;
      if (entry->is_directory(ignored)) folders.push_back(entry->path());
    }
  }
  return folders;
}

/// Which of these texts a file holds, read piece by piece: a program may have hundreds of MiB.
std::vector<bool> texts_in(const fs::path& file, const std::vector<std::string_view>& texts) {
  constexpr std::size_t overlap = 64;  // longer than any of the texts
  std::vector<bool> found(texts.size());
  std::ifstream stream(file, std::ios::binary);
  std::string block(1 << 20, '\0');
  std::size_t kept = 0;
  while (stream) {
    stream.read(block.data() + kept, static_cast<std::streamsize>(block.size() - kept));
    const auto size = kept + static_cast<std::size_t>(stream.gcount());
    const std::string_view seen(block.data(), size);
    for (std::size_t i = 0; i < texts.size(); ++i)
      found[i] = found[i] || seen.find(texts[i]) != std::string_view::npos;
    kept = std::min(size, overlap);
    std::copy_n(block.data() + (size - kept), kept, block.data());
  }
  return found;
}

bool is_elf(const fs::path& file) {
  std::array<char, 4> start{};
  std::ifstream(file, std::ios::binary).read(start.data(), start.size());
  return std::string_view(start.data(), start.size()) == "\177ELF";
}

bool has_library(const fs::path& folder, std::string_view name) {
  std::error_code error;
  return fs::exists(folder / name, error) || fs::exists(folder / (std::string(name) + ".0"), error);
}

}  // namespace

std::string why_no_program(const fs::path& file) {
  std::error_code error;
  const auto status = fs::status(file, error);
  if (!fs::exists(status)) return "there is no such file";
  if (!fs::is_regular_file(status)) return "it is not a file";
  // By the mode too, since to root access() grants what execve() then refuses.
  const auto any = fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec;
  if ((status.permissions() & any) == fs::perms::none) return "it is not executable";
  if (::access(file.c_str(), X_OK) != 0)
    return "it may not be executed (" + std::generic_category().message(errno) + ")";
  return {};
}

std::optional<fs::path> server_on_path(std::string_view path) {
  for (const auto& folder : split_paths(path)) {
    // A relative one means another folder from each working directory.
    if (!folder.is_absolute() || !why_no_program(folder / server_name).empty()) continue;
    std::error_code error;
    auto server = fs::canonical(folder / server_name, error);
    if (error || !is_elf(server)) return std::nullopt;
    return server;
  }
  return std::nullopt;
}

std::vector<std::string> flavours_of(const fs::path& server) {
  const auto folders = library_folders(server);
  std::vector<std::string_view> texts;
  for (const auto& sign : signs)
    texts.insert(texts.end(), sign.linked.begin(), sign.linked.end());
  const auto linked = texts_in(server, texts);
  std::vector<std::string> flavours;
  for (std::size_t i = 0; i < signs.size(); ++i) {
    const bool beside = std::any_of(folders.begin(), folders.end(), [&](const fs::path& folder) {
      return has_library(folder, signs[i].plugin);
    });
    if (beside || linked[2 * i] || linked[2 * i + 1]) flavours.emplace_back(signs[i].flavour);
  }
  if (flavours.empty()) flavours.emplace_back("cpu");
  return flavours;
}

Engine plain_engine(const fs::path& server, std::string flavour) {
  return {.flavour = std::move(flavour),
          .folder = server.parent_path(),
          .command = {server.string()},
          .source = std::string(plain_source)};
}

}  // namespace llamavisor::engine
