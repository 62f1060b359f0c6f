/// \file
/// Lists for people.
#pragma once

#include <llamavisor/device.hpp>
#include <llamavisor/engine.hpp>
#include <llamavisor/model_files.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace llamavisor::cli {

/// A line for each, below one with the columns' names; empty where there is none.
std::string table(const std::vector<Device>& devices);
std::string table(const std::vector<Engine>& engines);
std::string table(const std::vector<FoundModel>& models, const std::filesystem::path& folder);

}  // namespace llamavisor::cli
