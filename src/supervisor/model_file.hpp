/// \file
/// A model's file, as it was when its header was read.
#pragma once

#include <llamavisor/error.hpp>
#include <llamavisor/gguf.hpp>

#include "supervisor/file_identity.hpp"

#include <filesystem>
#include <memory>
#include <optional>

namespace llamavisor::supervisor {

struct ModelFile {
  FileIdentity identity{};
  GgufInfo facts{};
  std::optional<Failure> failure{};  ///< where there was no header to read

  /// Never throws because of the file. For a caller's thread: it may lie on a slow disk.
  static std::shared_ptr<const ModelFile> read(const std::filesystem::path& file);
};

}  // namespace llamavisor::supervisor
