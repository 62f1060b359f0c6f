/// \file
/// One llama-server build: a pack.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace llamavisor {

/// An engine pack: a folder with a `llama-server` that runs as it is, and an `engine.json`, made
/// by `tools/get-engine`; or a `llama-server` without that description. A plain value.
struct Engine {
  std::string flavour{};  ///< "cpu", "vulkan", "hip", "cuda"
  int build = 0;          ///< llama.cpp's build number; 0 = not known
  std::string version{};  ///< as `llama-server --version` says it; empty = not known
  std::filesystem::path folder{};
  std::vector<std::string>
      command{};                     ///< how it is started: the executable, or loader + executable
  std::vector<std::string> flags{};  ///< every flag that its `--help` knows, sorted; empty = not
                                     ///< known: it is taken for one of today
  std::string source{};              ///< what it was made from: "debian", "system", ...; "plain"
                                     ///< for a `llama-server` without a description
  std::string found_by{};            ///< "LLAMAVISOR_ENGINE_PATH", "ROCM_LLAMA_SERVER_PATH",
                                     ///< "prefix", "user", "PATH"; empty where it was named
  std::vector<std::string> gfx_targets{};  ///< AMD's instruction sets that it has code for; empty
                                           ///< where that is not known

  bool knows(std::string_view flag) const;
};

/// Reads one pack. Throws `Error`: `engine_broken` where the folder is no pack, or was moved and
/// cannot run where it lies; the message names the command that mends it. Any thread.
Engine read_engine(const std::filesystem::path& folder);

/// All engines that can be found, best place first:
///
/// | place | what it holds | what cannot be used there |
/// |---|---|---|
/// | LLAMAVISOR_ENGINE_PATH, separated by ':' | packs, or folders of packs | an error |
/// | ROCM_LLAMA_SERVER_PATH | one `llama-server` of flavour "hip", or its folder | an error |
/// | `<prefix>/lib/llamavisor/<flavour>/` | packs | passed over |
/// | `${XDG_DATA_HOME:-~/.local/share}/llamavisor/engines/<flavour>/` | packs | passed over |
/// | PATH | the first `llama-server` | passed over |
///
/// Of a `llama-server` without a description the flavours are told from the GPU libraries that lie
/// beside it, where builds and distributions keep them, or that it is linked with; one that has any
/// is never taken for a CPU engine, and one that is a script, on PATH, for none. From files alone:
/// no process is started. Reads the environment at each call. Throws `Error` (`engine_broken`) that
/// names the place, or the variable. Any thread.
std::vector<Engine> find_engines();

}  // namespace llamavisor
