/// \file
/// Lists for people.
#pragma once

#include <llamavisor/device.hpp>
#include <llamavisor/engine.hpp>

#include <string>
#include <vector>

namespace llamavisor::cli {

/// A line for each, below one with the columns' names; empty where there is none.
std::string table(const std::vector<Device>& devices);
std::string table(const std::vector<Engine>& engines);

}  // namespace llamavisor::cli
