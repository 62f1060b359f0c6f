/// \file
/// A model's files, as they were when their headers were read.
#pragma once

#include <llamavisor/error.hpp>
#include <llamavisor/gguf.hpp>

#include "server/launch.hpp"
#include "supervisor/file_identity.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace llamavisor::supervisor {

struct ModelFile {
  std::vector<KnownFile> files{};  ///< all of its parts, the adapters, the projector
  GgufInfo facts{};
  std::uint64_t added_size = 0;      ///< bytes of the adapters and the projector
  std::optional<Failure> failure{};  ///< what makes a load impossible, whatever the device

  /// Never throws because of a file. For a caller's thread: they may lie on a slow disk.
  static std::shared_ptr<const ModelFile> read(const server::ModelPaths& paths);
};

}  // namespace llamavisor::supervisor
