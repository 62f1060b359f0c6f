/// \file
/// The models of a folder.
#pragma once

#include <llamavisor/gguf.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace llamavisor {

/// One model, projector, adapter or vocabulary: a GGUF file, or all the files that it was split
/// into. Zero or empty where the file does not say.
struct FoundModel {
  std::filesystem::path path{};  ///< what to load; of a split model its first part
  ModelKind kind = ModelKind::other;
  std::string name{};  ///< as the file says, at most 256 bytes of it
  std::string architecture{};
  std::string size_label{};          ///< see `GgufInfo`
  std::uint64_t parameters = 0;      ///< of all parts that are there
  std::string quantisation{};        ///< "Q4_K_M", ...
  std::uint64_t size = 0;            ///< bytes of all parts that are there
  std::uint32_t context_length = 0;  ///< tokens, as trained
  bool has_chat_template = false;
  int parts = 1;                             ///< files that it should have
  std::vector<std::string> missing_parts{};  ///< names of files; of very many the first 64
  std::string reason{};  ///< why it cannot be used, and what mends it; empty = it can

  bool usable() const noexcept { return reason.empty(); }
};

/// How far a search goes.
struct ModelSearch {
  int depth = 8;                      ///< levels of folders below the one that is named; 0 = none
  std::size_t max_entries = 100'000;  ///< names of files and folders that are looked at
  std::size_t max_files = 10'000;     ///< GGUF files that are read
};

struct FoundModels {
  std::vector<FoundModel> list{};      ///< sorted by path
  std::vector<std::string> notices{};  ///< what was not looked at, and why; at most 100
};

/// Looks for files named *.gguf in a folder and below it, and reads their headers: no weights, no
/// process, bounded memory. Links to files and folders are followed, and no folder is entered
/// twice. A file that cannot be used is listed with the reason; a folder that cannot be read is a
/// notice. Throws `Error` (`model_not_found`) where `folder` itself cannot be read, or is none. Any
/// thread.
FoundModels discover_models(const std::filesystem::path& folder, const ModelSearch& limits = {});

}  // namespace llamavisor
