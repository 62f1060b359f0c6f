#include "server/failure_texts.hpp"

#include <array>

namespace llamavisor::server {
namespace {

constexpr std::array texts{
    // The dynamic loader, before main(): exit 127.
    FailureText{"error while loading shared libraries:*wrong ELF class", Cause::wrong_architecture},
    FailureText{"error while loading shared libraries:*file too short", Cause::damaged_library},
    FailureText{"error while loading shared libraries:*invalid ELF header", Cause::damaged_library},
    FailureText{"error while loading shared libraries:*cannot read file data",
                Cause::damaged_library},
    // Of a file on a file system without execution, and of any file when the address space is full.
    FailureText{"error while loading shared libraries:*failed to map segment",
                Cause::damaged_library},
    FailureText{"error while loading shared libraries:*unsupported version",
                Cause::damaged_library},
    FailureText{"error while loading shared libraries:*cannot open shared object file",
                Cause::missing_library},
    FailureText{"error while loading shared libraries:", Cause::damaged_library},
    FailureText{"symbol lookup error:*undefined symbol", Cause::damaged_library},
    FailureText{"relocation error:", Cause::damaged_library},
    FailureText{"version `*' not found (required by", Cause::missing_library},
    FailureText{"Exec format error", Cause::wrong_architecture},
    // The plug-in that computes is gone, or none of them fits this processor.
    FailureText{"no backends are loaded", Cause::missing_library},

    // The engine has no code for this GPU.
    FailureText{"TensileLibrary*for GPU arch", Cause::unsupported_gfx},
    FailureText{"no kernel image is available", Cause::unsupported_gfx},
    FailureText{"device kernel image is invalid", Cause::unsupported_gfx},
    FailureText{"hipErrorInvalidKernelFile", Cause::unsupported_gfx},
    FailureText{"hipErrorNoBinaryForGpu", Cause::unsupported_gfx},
    FailureText{"No compatible code objects found for", Cause::unsupported_gfx},
    FailureText{"HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION", Cause::unsupported_gfx},
    FailureText{"HSA_STATUS_ERROR_INVALID_ISA", Cause::unsupported_gfx},
    FailureText{"HSA_STATUS_ERROR_INVALID_CODE_OBJECT", Cause::unsupported_gfx},
    FailureText{"the provided PTX was compiled with an unsupported toolchain",
                Cause::unsupported_gfx},
    FailureText{"invalid device function", Cause::invalid_device_function},

    // The GPU, or what the driver knows of it, is gone.
    FailureText{"ErrorDeviceLost", Cause::device_lost},
    FailureText{"DeviceLostError", Cause::device_lost},
    FailureText{"VK_ERROR_DEVICE_LOST", Cause::device_lost},
    FailureText{"unspecified launch failure", Cause::device_lost},
    FailureText{"illegal memory access", Cause::device_lost},
    FailureText{"misaligned address", Cause::device_lost},
    FailureText{"the launch timed out and was terminated", Cause::device_lost},
    FailureText{"uncorrectable ECC error", Cause::device_lost},
    FailureText{"Memory access fault by GPU", Cause::device_lost},
    FailureText{"HW Exception by GPU", Cause::device_lost},
    FailureText{"HSA_STATUS_ERROR_EXCEPTION", Cause::device_lost},
    FailureText{"HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION", Cause::device_lost},

    // Memory, of the device or of the host.
    FailureText{"Device memory allocation of size*failed", Cause::out_of_memory},
    FailureText{"Requested buffer size exceeds device memory allocation limit",
                Cause::out_of_memory},
    FailureText{"ErrorOutOfDeviceMemory", Cause::out_of_memory},
    FailureText{"ErrorOutOfHostMemory", Cause::out_of_memory},
    FailureText{"OutOfDeviceMemoryError", Cause::out_of_memory},
    FailureText{"OutOfHostMemoryError", Cause::out_of_memory},
    FailureText{"VK_ERROR_OUT_OF_DEVICE_MEMORY", Cause::out_of_memory},
    FailureText{"VK_ERROR_OUT_OF_HOST_MEMORY", Cause::out_of_memory},
    FailureText{"cudaMalloc failed", Cause::out_of_memory},
    FailureText{"hipMalloc failed", Cause::out_of_memory},
    FailureText{"hipErrorOutOfMemory", Cause::out_of_memory},
    FailureText{"CUDA error*: out of memory", Cause::out_of_memory},
    FailureText{"ROCm error*: out of memory", Cause::out_of_memory},
    FailureText{"STATUS_ALLOC_FAILED", Cause::out_of_memory},
    FailureText{"insufficient memory (attempted to allocate", Cause::out_of_memory},
    FailureText{"failed to allocate*buffer", Cause::out_of_memory},
    FailureText{"unable to allocate*buffer", Cause::out_of_memory},
    FailureText{"mem_buffer != NULL", Cause::out_of_memory},
    FailureText{"bad_alloc", Cause::out_of_memory},
    FailureText{"Cannot allocate memory", Cause::out_of_memory},
    // Of a card that other processes had filled but for 18 MiB; one that is not there is refused
    // before, as an invalid device.
    FailureText{"createDevice: ErrorInitializationFailed", Cause::out_of_memory},
    // No thread could be made: its stack found no room, or the user has too many processes.
    FailureText{"what():*Resource temporarily unavailable", Cause::out_of_memory},

    // What we, or the caller's extra arguments, asked for.
    FailureText{"error while handling argument*: invalid device:", Cause::unknown_device},
    FailureText{"error: invalid argument: -", Cause::bad_argument},
    FailureText{"error: unknown argument: -", Cause::bad_argument},
    FailureText{"error: invalid parameter for argument:", Cause::bad_argument},
    FailureText{"error while handling argument", Cause::bad_argument},
    FailureText{"error while handling environment variable", Cause::bad_argument},
    FailureText{"couldn't bind", Cause::address_in_use},
    FailureText{"Address already in use", Cause::address_in_use},

    // The model: first what a newer engine would know.
    FailureText{"unknown model architecture", Cause::unknown_model_architecture},
    FailureText{"unknown pre-tokenizer type", Cause::unknown_model_architecture},
    FailureText{"this GGUF file is version*only supports up to", Cause::unknown_model_architecture},
    FailureText{"has invalid ggml type", Cause::unknown_model_architecture},
    FailureText{"unknown projector type", Cause::unknown_model_architecture},
    FailureText{"failed to apply lora adapter:", Cause::unfit_adapter},
    FailureText{"mismatch between text model*and mmproj", Cause::unfit_adapter},
    FailureText{"failed to open GGUF file", Cause::bad_model},
    FailureText{"gguf_init_from_", Cause::bad_model},
    FailureText{"invalid magic", Cause::bad_model},
    FailureText{"model is corrupted or incomplete", Cause::bad_model},
    // Whatever else Vulkan throws while a model loads is no fault of the file.
    FailureText{"error loading model: vk::", Cause::unknown},
    FailureText{"error loading model", Cause::bad_model},
    FailureText{"failed to load lora adapter", Cause::unfit_adapter},
    FailureText{"Failed to load CLIP model", Cause::unfit_adapter},
};

}  // namespace

std::span<const FailureText> failure_texts() noexcept {
  return texts;
}

bool matches(std::string_view line, std::string_view pattern) noexcept {
  while (true) {
    const auto star = pattern.find('*');
    const auto part = pattern.substr(0, star);
    const auto at = line.find(part);
    if (at == std::string_view::npos) return false;
    if (star == std::string_view::npos) return true;
    line.remove_prefix(at + part.size());
    pattern.remove_prefix(star + 1);
  }
}

}  // namespace llamavisor::server
