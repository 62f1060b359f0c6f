/// \file
/// How a model is loaded.
#pragma once

#include <llamavisor/event.hpp>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
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
  ms probe{5'000};             ///< how long a probe's answer may take; 0 = off
  ms small_call{30'000};       ///< tokenize, template, properties; 0 = off
  ms device_list{10'000};      ///< `--list-devices` of an engine, when it is asked; 0 = off
  ms stop_grace{5'000};        ///< from SIGTERM to SIGKILL; 0 = at once
  ms reap{2'000};              ///< from SIGKILL to `unreaped`; 0 = at once

  /// A driver may give a GPU's memory back only a while after its process has ended. A load that
  /// runs out of memory on a GPU that another server of this host process has left less than this
  /// long ago is tried again there, after waits that double (100 ms at least), a last time when the
  /// limit has passed; only then comes what `Fallback` allows. 5 s, as a stop may take: who waits
  /// for the one can wait for the other. 0 = no wait.
  ms memory_return{5'000};
};

/// What may happen when a server process dies, hangs or cannot start.
enum class Fallback {
  automatic,  ///< a model that was ready goes on with the CPU build, whatever device was asked for;
              ///< a load ends up on the CPU only with device "auto"
  never,      ///< nothing is started again: requests end with a typed error, no CPU process, ever
  to_cpu      ///< like `automatic`, and a load may end up on the CPU too
};

/// "automatic", "never", "to_cpu". Never throws.
std::string_view name(Fallback fallback) noexcept;

/// What may be made smaller when a load runs out of memory.
enum class OutOfMemory {
  next_device,     ///< nothing: the next device or the typed error, as `Fallback` says
  fewer_layers,    ///< layers on the GPU: as many as fit instead of all (where the engine can find
                   ///< that out), else half of them; the rest runs on the CPU, more slowly
  smaller_context  ///< the context of each slot: half of it, but no less than 256 tokens; longer
                   ///< requests end with `errc::context_exceeded`
};

/// "next_device", "fewer_layers", "smaller_context". Never throws.
std::string_view name(OutOfMemory remedy) noexcept;

/// How often and how soon servers are started again.
struct Recovery {
  using ms = std::chrono::milliseconds;

  int restarts = 5;           ///< allowed within `restart_window`; 0 = none
  ms restart_window{60'000};  ///< cleared by a server that gave a request a token and lived 2 s
  ms first_delay{100};        ///< of the second restart (the first comes at once), then doubling
  ms longest_delay{30'000};
  ms cool_down{60'000};  ///< before a better device is tried again, then doubling; 0 = never
  ms longest_cool_down{1'800'000};
};

/// A LoRA adapter: a GGUF file (`ModelKind::adapter`) with changes to the weights of one model.
struct Adapter {
  std::filesystem::path file{};
  float scale = 1;  ///< of the changes; 0 = none, negative = the other way
};

/// One aggregate; every member has its default. Checked by `Backend::load` before anything is
/// started: `errc::invalid_option` names the member.
struct LoadOptions {
  /// "auto", "cpu", "cuda[:n]", "rocm[:n]", "hip[:n]", "vulkan[:n]"; case does not matter; several
  /// of one kind share the model: "rocm:0,rocm:1". "auto" is what the environment variable
  /// LLAMAVISOR_DEVICE names, where it is set; else the best device that `discover_devices` finds,
  /// of the kind that `engine` drives where that is set.
  std::string device = "auto";

  /// Folder of one engine pack for the device; empty = the best one that `find_engines()` finds.
  std::filesystem::path engine{};

  /// All of them are in effect, on every device that the model comes to run on. Their headers are
  /// read before anything is started: what is no adapter, or is one for another architecture, is
  /// `errc::invalid_option`. With a scale other than 1 the path must not hold a colon.
  std::vector<Adapter> adapters{};

  /// The model's projector (`ModelKind::projector`, llama.cpp's "mmproj"); empty = none. Checked
  /// like the adapters. The server then can see or hear; `TextModel` has no way yet to show it
  /// anything.
  std::filesystem::path projector{};

  /// Tokens of context for each slot; 0 = as the model was trained, but at most 8192, since each
  /// slot takes its memory at once. A slot never has more than the model was trained for:
  /// `info().context_length` tells.
  int context_length = 0;

  /// Layers on the GPU: unset = as many as fit, -1 = all, n = n. Ignored on the CPU.
  std::optional<int> gpu_layers{};

  /// For scores that repeat to the last bit: one slot (`parallel` and `prompt_cache_mib` are not
  /// looked at), all layers on the GPU where `gpu_layers` is unset, batches of a fixed size, and of
  /// a sliding window the whole: docs/decisions/0006-scores.md.
  bool exact_scores = false;

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

  Fallback fallback = Fallback::automatic;

  /// Tried once for each device and each load or reload, before the next device; the event
  /// `warning` says what was made smaller, and `TextModel::info()` has what is in effect. Layers
  /// that are unset are as many as fit from the start, by the engine's own reckoning: less than
  /// that helps where it was wrong.
  OutOfMemory when_out_of_memory = OutOfMemory::next_device;

  int same_rung_retries = 0;  ///< tries on the same GPU before the next rung; none after a hang, a
                              ///< lost device or a lack of memory
  bool require_cpu_engine = false;  ///< a GPU load without a CPU engine is `errc::no_engine`, not
                                    ///< a warning
  bool standby = false;  ///< keep a CPU server warm: failing over then costs no load, but the
                         ///< model's memory a second time (of its weights, where they are mapped,
                         ///< only what the GPU build did not map)
  Recovery recovery{};
  Limits limits{};
  EventHandler on_event{};  ///< see `EventHandler` for the thread; may be empty
};

}  // namespace llamavisor
