/// \file
/// The GGUF files of a folder and of the folders below it, by their names.
#pragma once

#include <llamavisor/model_files.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace llamavisor::gguf {

struct Walk {
  std::vector<std::filesystem::path> files{};  ///< named *.gguf, whatever they are; sorted
  std::vector<std::string> notices{};          ///< what was not looked at
};

/// Opens none of the files. Throws `Error` (`model_not_found`) for a folder that cannot be read.
Walk walk(const std::filesystem::path& folder, const ModelSearch& limits);

}  // namespace llamavisor::gguf
