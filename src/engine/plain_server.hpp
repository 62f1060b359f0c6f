/// \file
/// A llama-server without a description: one of a distribution, or of a build tree.
#pragma once

#include <llamavisor/engine.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llamavisor::engine {

/// The first program named llama-server in a list of folders separated by ':', with links followed;
/// none where there is none, or where it is a script: what that starts cannot be told.
std::optional<std::filesystem::path> server_on_path(std::string_view path);

/// "hip", "cuda", "vulkan": those whose libraries lie where a build or a distribution keeps them,
/// or whose driver the program itself is linked with; else "cpu" alone. From files.
std::vector<std::string> flavours_of(const std::filesystem::path& server);

/// As it is started; only what files tell is known of it.
Engine plain_engine(const std::filesystem::path& server, std::string flavour);

/// Why a file cannot be started, as the end of a sentence; empty where it can.
std::string why_no_program(const std::filesystem::path& file);

/// The engine that ROCM_LLAMA_SERVER_PATH names: a pack, a llama-server, or a folder that holds
/// one. Throws `Error` (`engine_broken`) that names the variable.
Engine read_rocm_server(const std::filesystem::path& named);

}  // namespace llamavisor::engine
