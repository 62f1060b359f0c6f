/// \file
/// LoRA adapters on a llama-server's command line. Pure.
#pragma once

#include <llamavisor/load_options.hpp>

#include <span>
#include <string>

namespace llamavisor::server {

/// The values of two flags; empty = not needed.
struct AdapterArguments {
  std::string plain{};   ///< of --lora: "FILE","FILE"
  std::string scaled{};  ///< of --lora-scaled: "FILE:SCALE","FILE:SCALE"
};

/// The server splits its lists at commas outside quotes, and an entry with a scale at every colon.
AdapterArguments adapter_arguments(std::span<const Adapter> adapters);

/// Whether the server would read this path, with this scale, as we mean it.
bool can_be_told(const Adapter& adapter);

/// Oldest llama.cpp build that reads such lists (pull request 18643, January 2026): one before it
/// takes the quotes for a part of the name.
inline constexpr int minimum_adapter_build = 8000;

}  // namespace llamavisor::server
