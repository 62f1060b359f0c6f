#include "server/diagnosis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace llamavisor::server {
namespace {

/// The diagnosis may look at more (rocBLAS lists its files after its error); a person need not.
constexpr std::size_t reported_lines = 20;

bool before_ready(Phase phase) {
  return phase == Phase::none || phase == Phase::spawn || phase == Phase::load ||
         phase == Phase::identity || phase == Phase::first_token;
}

std::string_view doing(Phase phase) {
  switch (phase) {
    case Phase::none: return "";
    case Phase::spawn: return " while it was started";
    case Phase::load: return " while loading";
    case Phase::identity: return " while it was identified";
    case Phase::first_token: return " while computing its first token";
    case Phase::idle: return " while idle";
    case Phase::prompt: return " while reading a prompt";
    case Phase::generation: return " while generating";
    case Phase::stop: return " while stopping";
  }
  return "";
}

std::string_view words(Cause cause) {
  switch (cause) {
    case Cause::none:
    case Cause::unknown: return "for an unknown reason";
    case Cause::out_of_memory: return "out of memory";
    case Cause::unsupported_gfx: return "the engine has no code for this GPU";
    case Cause::device_lost: return "the GPU was lost";
    case Cause::invalid_device_function: return "the engine's code does not run on this GPU";
    case Cause::missing_library: return "a library is missing";
    case Cause::damaged_library: return "a library is damaged";
    case Cause::wrong_architecture: return "a file of the engine is for another machine";
    case Cause::bad_model: return "the model cannot be read";
    case Cause::unknown_model_architecture: return "the engine does not know this kind of model";
    case Cause::unfit_adapter: return "an adapter or the projector does not fit the model";
    case Cause::bad_argument: return "an argument was refused";
    case Cause::unknown_device: return "the engine does not have this device";
    case Cause::address_in_use: return "its address could not be used";
    case Cause::illegal_instruction:
      return "the engine uses instructions that this processor does not have";
    case Cause::crash_at_device_init:
      return "it crashed before its first word, while the GPU was set up";
    case Cause::killed_from_outside: return "killed from outside";
    case Cause::hung: return "it hung";
  }
  return "for an unknown reason";
}

}  // namespace

errc code_for(Cause cause, Phase phase) noexcept {
  switch (cause) {
    case Cause::out_of_memory: return errc::out_of_memory;
    case Cause::unknown_device: return errc::unknown_device;
    case Cause::bad_model:
    case Cause::unfit_adapter: return errc::invalid_model;
    case Cause::unknown_model_architecture: return errc::unsupported_model;
    case Cause::missing_library:
    case Cause::damaged_library:
    case Cause::wrong_architecture:
    case Cause::illegal_instruction: return errc::engine_broken;
    case Cause::hung: return phase == Phase::load ? errc::load_stalled : errc::server_hung;
    default: return before_ready(phase) ? errc::load_failed : errc::server_died;
  }
}

std::string_view advice(Cause cause) noexcept {
  switch (cause) {
    case Cause::out_of_memory:
      return "use a smaller model or context, fewer slots, fewer GPU layers, or free memory";
    case Cause::unsupported_gfx:
    case Cause::invalid_device_function:
      return "use the Vulkan engine for this GPU (tools/get-engine vulkan), or the CPU";
    case Cause::device_lost:
      return "see the kernel's log (dmesg); the device is left alone until the next boot";
    case Cause::missing_library:
    case Cause::damaged_library:
    case Cause::wrong_architecture: return "make the engine pack anew with: tools/get-engine";
    case Cause::bad_model: return "check the model file, and download it again";
    case Cause::unknown_model_architecture: return "get a newer engine with: tools/get-engine";
    case Cause::unfit_adapter: return "name one that was made for this very model";
    case Cause::bad_argument:
      return "check LoadOptions::server_args, and that the engine is recent";
    case Cause::unknown_device: return "name one that the engine lists";
    case Cause::address_in_use:
      return "check that LoadOptions::runtime_dir is a folder that can be written to";
    case Cause::illegal_instruction:
      return "get an engine for this processor with: tools/get-engine cpu";
    case Cause::crash_at_device_init: return "check the GPU's driver, or use another device";
    case Cause::killed_from_outside:
      return "see the kernel's log (dmesg) for its out-of-memory killer";
    case Cause::hung: return "see the kernel's log (dmesg) for a hang of the GPU";
    case Cause::none:
    case Cause::unknown: return "";
  }
  return "";
}

Failure make_failure(const Evidence& evidence, std::string_view device) {
  auto [cause, detail] = diagnose(evidence);
  Failure failure;
  failure.code = code_for(cause, evidence.phase);
  failure.phase = evidence.phase;
  failure.cause = cause;
  const auto& lines = evidence.last_lines;
  const auto kept = std::min(lines.size(), reported_lines);
  failure.last_lines.assign(lines.end() - static_cast<std::ptrdiff_t>(kept), lines.end());
  if (evidence.exit) {
    failure.exit_code = evidence.exit->code;
    if (evidence.exit->signal) failure.signal = process::signal_name(*evidence.exit->signal);
  }
  failure.message = fmt::format("llama-server ({}) {}{}: {}", device,
                                evidence.exit ? process::describe(*evidence.exit) : "failed",
                                doing(evidence.phase), words(cause));
  if (!detail.empty() && cause == Cause::unknown) {
    failure.message += fmt::format("; its log ends with: {}", detail);
  } else if (!detail.empty()) {
    failure.message += fmt::format(" ({})", detail);
  }
  if (const auto help = advice(cause); !help.empty()) failure.message += fmt::format("; {}", help);
  return failure;
}

}  // namespace llamavisor::server
