// Pack folders for tests, as tools/get-engine makes them.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace llamavisor::test {

/// The text of an engine.json for a pack that lies in `path`; `loader` as JSON.
std::string description_text(const std::filesystem::path& path, std::string_view flavour = "cpu",
                             std::string_view loader = "null", std::string_view start = "direct");

/// A folder with a description and a llama-server that can be executed; and a loader, if asked.
void make_pack(const std::filesystem::path& folder, std::string_view flavour = "cpu",
               bool with_loader = false);

void write_text(const std::filesystem::path& file, std::string_view text, bool executable = false);

}  // namespace llamavisor::test
