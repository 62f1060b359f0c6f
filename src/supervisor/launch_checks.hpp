/// \file
/// What must hold before a server is spawned.
#pragma once

#include <llamavisor/error.hpp>

#include "supervisor/file_identity.hpp"
#include "supervisor/model_file.hpp"
#include "supervisor/rung_spec.hpp"

#include <optional>
#include <string>
#include <vector>

namespace llamavisor::supervisor {

/// Remembers at load what the model's files and the engines are, and compares before each later
/// spawn: a silent splice of two models or builds must not happen.
class LaunchChecks {
 public:
  /// At a load or reload.
  void remember(const std::vector<RungSpec>& rungs, const ModelFile& model);

  /// Before a spawn. A file of the model that could not be read, or has changed, is a failure; a
  /// changed engine is read anew into `rung`, and `warning` says so. A lack of memory for the CPU
  /// is a failure too.
  std::optional<Failure> check(RungSpec& rung, std::size_t index, std::string& warning) const;

 private:
  std::vector<KnownFile> files_;
  std::optional<Failure> unreadable_;
  std::vector<FileIdentity> engines_;
};

/// Whether the host has the memory that a server on the CPU needs.
std::optional<Failure> check_memory(const RungSpec& rung);

}  // namespace llamavisor::supervisor
