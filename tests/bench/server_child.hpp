// The llama-server that the library has started for a model: how another client reaches it.
#pragma once

#include <filesystem>
#include <string>

namespace llamavisor::bench {

struct ServerChild {
  std::string socket{};
  std::string key{};
};

/// Finds the socket below the model's `runtime_dir`, and the key in the environment of this
/// process's own child, which the same user may read.
ServerChild find_server(const std::filesystem::path& runtime_dir);

}  // namespace llamavisor::bench
