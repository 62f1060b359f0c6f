/// \file
/// One llama-server build: a pack.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace llamavisor {

/// An engine pack: a folder with a `llama-server` that runs as it is, and an `engine.json`, made
/// by `tools/get-engine`. A plain value.
struct Engine {
  std::string flavour{};  ///< "cpu", "vulkan", "hip", "cuda"
  int build = 0;          ///< llama.cpp's build number
  std::string version{};  ///< as `llama-server --version` says it
  std::filesystem::path folder{};
  std::vector<std::string>
      command{};                     ///< how it is started: the executable, or loader + executable
  std::vector<std::string> flags{};  ///< every flag that its `--help` knows, sorted
  std::string source{};              ///< "debian", "system", ...
  std::vector<std::string> gfx_targets{};  ///< AMD's instruction sets that it has code for; empty
                                           ///< where that is not known

  bool knows(std::string_view flag) const;
};

/// Reads one pack. Throws `Error`: `engine_broken` where the folder is no pack, or was moved and
/// cannot run where it lies; the message names the command that mends it. Any thread.
Engine read_engine(const std::filesystem::path& folder);

/// All packs that can be found, best place first: the folders in LLAMAVISOR_ENGINE_PATH (each a
/// pack or a folder of packs, separated by ':'), `<prefix>/lib/llamavisor/<flavour>/`, the user's
/// data folder `${XDG_DATA_HOME:-~/.local/share}/llamavisor/engines/<flavour>/`. Folders that are
/// no packs are passed over, except those that LLAMAVISOR_ENGINE_PATH names: these throw.
/// Reads the environment at each call. Any thread.
std::vector<Engine> find_engines();

}  // namespace llamavisor
