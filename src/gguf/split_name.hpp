/// \file
/// The names of the files that one model was split into: "m-00001-of-00003.gguf".
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace llamavisor::gguf {

struct SplitName {
  std::string stem{};  ///< "m"
  int part = 1;        ///< from 1 on
  int parts = 1;       ///< 99,999 at most: five digits

  /// The name of one of the parts.
  std::string of_part(int number) const;
};

/// As llama-server reads them: five digits each, small letters. Empty for any other name.
std::optional<SplitName> parse_split_name(std::string_view file_name);

}  // namespace llamavisor::gguf
