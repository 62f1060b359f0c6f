/// \file
/// How one llama-server is started: its arguments and its environment. Pure.
#pragma once

#include <llamavisor/engine.hpp>
#include <llamavisor/load_options.hpp>

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace llamavisor::server {

/// The files that make up a model; absolute, since a server runs in its engine's folder.
struct ModelPaths {
  std::filesystem::path model{};
  std::vector<Adapter> adapters{};
  std::filesystem::path projector{};  ///< empty = none
};

/// What one server process is to be.
struct ServerSpec {
  Engine engine{};
  std::string device{"cpu"};  ///< "cpu", "vulkan:0", "rocm:0,rocm:1"
  /// For ROCm and CUDA: the UUID of each device, or its position among all GPUs. HIP initialises
  /// each GPU that it sees, and a bad one can crash it before its first line; CUDA numbers them in
  /// an order of its own. So the child sees these alone, which then are numbers 0, 1, ... Empty:
  /// nothing is hidden.
  std::vector<std::string> visible{};
  ModelPaths paths{};
  int context_length = 0;           ///< of one slot; > 0
  std::optional<int> gpu_layers{};  ///< as `LoadOptions::gpu_layers`
  int parallel = 1;
  int threads = 1;
  int prompt_cache_mib = 0;
  bool exact_scores = false;         ///< as `LoadOptions::exact_scores`
  bool sliding_window = false;       ///< the model has one
  std::vector<std::string> extra{};  ///< checked by `check_server_args`
  std::vector<std::pair<std::string, std::string>> environment{};

  bool on_gpu() const { return device != "cpu"; }
};

/// What makes one incarnation of it its own.
struct Identity {
  std::string unix_path{};  ///< empty: TCP on 127.0.0.1, the port chosen by the kernel
  std::string key{};        ///< in the environment only: arguments are world-readable
  std::string alias{};      ///< the nonce that `/props` must give back
};

/// Longest path that a Unix socket can have: `sun_path` less its NUL.
inline constexpr std::size_t max_unix_path = 107;

/// Refuses arguments that the supervisor owns; throws `Error` (`refused_server_argument`) that
/// names the option to use instead.
void check_server_args(std::span<const std::string> args);

/// The command, the executable first. Optional flags that the engine does not know are left out; a
/// required one that it does not know throws `Error` (`engine_too_old`).
std::vector<std::string> command_line(const ServerSpec& spec, const Identity& identity);

/// The child's environment as "NAME=value": the inherited one, less what would steer the server or
/// break the pack, plus ours, plus the caller's additions.
std::vector<std::string> child_environment(const ServerSpec& spec, const Identity& identity,
                                           std::span<const std::string> inherited);

/// "vulkan:0,vulkan:1" as llama-server names it: "Vulkan0,Vulkan1"; "none" for the CPU.
std::string server_device_name(std::string_view device);

}  // namespace llamavisor::server
