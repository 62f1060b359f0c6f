/// \file
/// The GPUs of this machine, and who can drive them.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llamavisor {

/// What a device computes on.
enum class DeviceKind {
  discrete,    ///< a card with memory of its own
  integrated,  ///< part of the processor: its memory is the host's
  software     ///< the processor itself, behind a graphics interface: for tests, never chosen
};

/// "discrete", "integrated", "software". Never throws.
std::string_view name(DeviceKind kind) noexcept;

/// One GPU. A plain value.
struct Device {
  std::string name{};  ///< as `LoadOptions::device` takes it: "rocm:0"; empty where none drives it
  std::string vendor{};  ///< "AMD", "NVIDIA", "Intel", "Mesa"; empty where it is not known
  std::string model{};   ///< what the card calls itself, else its PCI ids: "1002:7550"
  DeviceKind kind = DeviceKind::discrete;
  bool kind_is_guess = false;    ///< the signs contradict each other, or there are none
  std::string gfx{};             ///< AMD's instruction set: "gfx1201"; empty for others
  std::string effective_gfx{};   ///< what HSA_OVERRIDE_GFX_VERSION makes of it, else as `gfx`
  std::string pci{};             ///< "0000:03:00.0"; of one that only an engine lists, and which
                                 ///< may be any of several cards: "0000:03:00.0 or 0000:43:00.0"
  std::string uuid{};            ///< "GPU-1f2e3d4c5b6a7988"; empty where it has none
  std::uint64_t memory_total{};  ///< bytes, of an integrated GPU with what it takes of the host's;
                                 ///< 0 where nobody tells
  std::uint64_t memory_free{};   ///< bytes; where only the engine tells, as of its last answer
  std::vector<std::string> engines{};  ///< flavours of engines that are here and can drive it
  bool usable = false;                 ///< an engine is here, and nothing stands in its way
  std::string reason{};                ///< why it is not usable, and what mends that
};

/// What `discover_devices` found.
struct Devices {
  /// CUDA's, ROCm's and Vulkan's, each by number, then those that no driver has taken. A card that
  /// two engines can drive is there twice.
  std::vector<Device> list{};
  /// The best device that is usable, else "cpu". Discrete ranks before integrated, within these
  /// CUDA before ROCm before what else there is; then the most free memory counts, then the lowest
  /// number. What renders in software is never chosen.
  std::string automatic{"cpu"};
  std::string why{};  ///< why it is that one, as a sentence
};

/// Whether engines are asked which devices they have. Only they know Vulkan's, and how much memory
/// NVIDIA's have; and a device that its own engine cannot see is not usable.
enum class AskEngines {
  no,              ///< files alone: no process is started, and no driver called
  when_not_known,  ///< unless they have answered since the machine booted, and nothing has changed
  always
};

struct DiscoveryOptions {
  /// Holds `sys/`, `proc/` and `dev/`.
  std::filesystem::path root{"/"};

  /// Engine flavours to be taken as present, with code for every GPU, instead of those that
  /// `find_engines` finds: for planning. Access is then checked only for nodes that exist below
  /// `root`, and no engine is asked.
  std::optional<std::vector<std::string>> assume_engines{};

  AskEngines ask_engines = AskEngines::no;
  std::chrono::milliseconds engine_limit{10'000};  ///< for all of their answers; 0 = none
};

/// Reads which GPUs there are from files of the kernel: AMD's from KFD and DRM, NVIDIA's from its
/// driver's folder, PCI devices that no driver has taken. Where engines are asked, each engine that
/// may drive one of them runs `llama-server --list-devices` in a process of its own, ROCm's and
/// CUDA's once for each GPU, which is the only one that it sees; answers are kept in
/// `${XDG_STATE_HOME:-~/.local/state}/llamavisor`. A device that is quarantined with its engine is
/// not usable.
///
/// Of the environment it reads ROCR_VISIBLE_DEVICES, HIP_VISIBLE_DEVICES, CUDA_VISIBLE_DEVICES
/// (devices that they hide are listed as not usable), HSA_OVERRIDE_GFX_VERSION and its numbered
/// form; Vulkan engines read GGML_VK_VISIBLE_DEVICES, which renumbers theirs. Throws `Error`:
/// `invalid_option` where an override is malformed, since it breaks every program that uses HSA;
/// what `find_engines` throws; `wrong_process` where engines are asked in a fork of a host. An
/// engine that does not answer is no error: `why`, or the device's `reason`, says so. Any thread.
Devices discover_devices(const DiscoveryOptions& options = {});

/// A device that failed so hard with an engine that a second try may hang the machine: no model of
/// any host of this user is loaded on it until the next boot. A plain value.
struct QuarantinedDevice {
  std::string device{};  ///< "rocm:0"
  std::string engine{};  ///< flavour
  int build = 0;
  std::string cause{};    ///< `name(Cause)`: "device_lost"
  std::string message{};  ///< of the failure
  std::string time{};     ///< UTC, ISO 8601
};

/// Those of this user, oldest first; from `${XDG_STATE_HOME:-~/.local/state}/llamavisor`. What
/// cannot be read counts as empty. Any thread.
std::vector<QuarantinedDevice> quarantined_devices();

/// Lifts every quarantine of this user. Any thread.
void clear_quarantine();

}  // namespace llamavisor
