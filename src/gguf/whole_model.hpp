/// \file
/// A model with all the files that it was split into.
#pragma once

#include <llamavisor/error.hpp>

#include "gguf/parse.hpp"
#include "gguf/split_name.hpp"

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace llamavisor::gguf {

/// One file, as far as it tells.
struct Part {
  Header header{};
  std::optional<Failure> trouble{};  ///< it could not be read; the message does not name the file

  /// Never throws because of the file.
  static Part read(const std::filesystem::path& file);
};

/// One or more files that are one model.
struct WholeModel {
  GgufInfo info{};  ///< of the first part; parameters, quantisation and size of all that are there
  std::vector<std::filesystem::path> files{};  ///< those that are there, in order
  std::vector<std::string> missing{};          ///< names of files, `max_missing` at most
  std::optional<Failure>
      trouble{};  ///< why it cannot be loaded; the message names other files only
};

/// A file that is not to be joined with others; one that is a part of several is in trouble.
WholeModel alone(const std::filesystem::path& file, Part part);

/// How many missing parts are looked for: a file may claim to be one of 99,999.
inline constexpr std::size_t max_missing = 64;

/// `name` is that of any part, `parts` the files that are there, by their numbers.
WholeModel join_parts(const std::filesystem::path& folder, const SplitName& name,
                      std::map<int, Part> parts);

/// Reads a model and, where it is split, its other parts. Never throws because of a file. What is
/// not to be loaded under this name, such as a second part, is trouble.
WholeModel read_whole_model(const std::filesystem::path& file);

}  // namespace llamavisor::gguf
