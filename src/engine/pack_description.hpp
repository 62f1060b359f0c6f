/// \file
/// What a pack's `engine.json` says.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace llamavisor::engine {

// Not inline: gcc would show these in a shared library, as unique symbols that pin it in a host.
constexpr std::string_view description_name = "engine.json";

/// `Engine::source` of a llama-server that has none.
constexpr std::string_view plain_source = "plain";

constexpr std::string_view server_name = "llama-server";

/// The newest format that is understood here.
constexpr int newest_format = 1;

/// A description is a few tens of KiB; a file of more than this is not one.
constexpr std::size_t max_description_size = 4 << 20;

/// `engine.json`, as `tools/get-engine` writes it. A plain value; what it names is not checked.
struct PackDescription {
  std::string flavour{};
  int build = 0;
  std::string version{};
  std::string executable{};                ///< a file name in the pack
  std::string loader{};                    ///< the same; empty where the system's loader is used
  bool start_by_loader = false;            ///< the executable cannot be started directly
  std::filesystem::path path{};            ///< where the pack was made to lie
  std::vector<std::string> flags{};        ///< sorted, none twice
  std::vector<std::string> gfx_targets{};  ///< of a HIP build; empty where it is not known
  std::string source{};                    ///< the kind: "debian", "system", ...
};

/// Parses a description. Throws `Error` (`engine_broken`) that says what is wrong with it, without
/// the folder's name and without advice: the caller knows both. Bounded in size and depth.
PackDescription parse_pack_description(std::string_view text);

}  // namespace llamavisor::engine
