// Engine packs with the fake llama-server in them.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace llamavisor::testing {

/// The fake llama-server itself.
std::filesystem::path fake_server();

/// Makes a pack: `folder`/engine.json, `folder`/llama-server, `folder`/fake_server.txt.
///
/// `flavour` "cpu" has no device, "vulkan" has Vulkan0, "hip" ROCm0, "cuda" CUDA0. `words` are the
/// pack's own script (see ../fake_server/README.md), after those that make its flavour.
std::filesystem::path make_fake_pack(const std::filesystem::path& folder, std::string_view flavour,
                                     std::string_view words = {});

/// The flags that the fake's `--help` lists, in today's or the old dialect; sorted.
std::vector<std::string> fake_flags(bool old_dialect = false);

}  // namespace llamavisor::testing
