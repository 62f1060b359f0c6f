/// \file
/// How a model is loaded.
#pragma once

#include <llamavisor/event.hpp>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace llamavisor {

/// Time limits of a model. Zero means what each says.
struct Limits {
  using ms = std::chrono::milliseconds;

  ms load_silence{300'000};    ///< a load fails after so long without output or progress; 0 = off
  ms prompt_soft{30'000};      ///< no progress of a prompt: the server is probed; 0 = off
  ms prompt_hard{600'000};     ///< no progress of a prompt: it hangs, whatever it answers; 0 = off
  ms generation_soft{10'000};  ///< no token: the server is probed; 0 = off
  ms generation_hard{60'000};  ///< no token: it hangs, whatever it answers; 0 = off
  ms probe{5'000};             ///< how long `/slots` may take when probed; 0 = off
  ms small_call{30'000};       ///< tokenize, template, properties; 0 = off
  ms stop_grace{5'000};        ///< from SIGTERM to SIGKILL; 0 = at once
  ms reap{2'000};              ///< from SIGKILL to `unreaped`; 0 = at once
};

/// One aggregate; every member has its default. Checked by `Backend::load` before anything is
/// started: `errc::invalid_option` names the member.
struct LoadOptions {
  /// "auto", "cpu", "cuda[:n]", "rocm[:n]", "hip[:n]", "vulkan[:n]"; case does not matter. With
  /// "auto", the environment variable LLAMAVISOR_DEVICE stands in where it is set.
  std::string device = "auto";

  /// Folder of one engine pack for the device; empty = the best one that `find_engines()` finds.
  std::filesystem::path engine{};

  /// Tokens of context for each slot; 0 = as the model was trained, but at most 8192, since each
  /// slot takes its memory at once. A slot never has more than the model was trained for:
  /// `info().context_length` tells.
  int context_length = 0;

  /// Layers on the GPU: unset = as many as fit, -1 = all, n = n. Ignored on the CPU.
  std::optional<int> gpu_layers{};

  int parallel = 4;          ///< slots: requests served at the same time; 1 to 256
  int threads = 0;           ///< of the CPU engine; 0 = from affinity, quota and physical cores
  int max_waiting = 1024;    ///< requests that wait for a slot; one more is `errc::busy`
  int prompt_cache_mib = 0;  ///< RAM of the server's prompt cache, in MiB; 0 = off

  /// More arguments for llama-server, as they are. Those that the supervisor owns (address, key,
  /// model, device, context, slots, ...) are refused: `errc::refused_server_argument`.
  std::vector<std::string> server_args{};

  /// Added to the child's environment; set last, so they win over what is inherited.
  std::vector<std::pair<std::string, std::string>> environment{};

  /// Where the private socket folder is made; empty = $XDG_RUNTIME_DIR, then the temporary folder.
  std::filesystem::path runtime_dir{};

  Limits limits{};
  EventHandler on_event{};  ///< see `EventHandler` for the thread; may be empty
};

}  // namespace llamavisor
