#include "supervisor/rung_spec.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace llamavisor::supervisor {

namespace {

/// A slot's context where the caller names none: enough for most conversations, and cheap.
constexpr int default_context_length = 8192;

/// Less is of no use to anybody.
constexpr int smallest_context_length = 256;

int full_context(const RungSpec& rung) {
  const int wanted = rung.asked_context > 0 ? rung.asked_context : default_context_length;
  return rung.trained_context > 0 ? std::min(wanted, rung.trained_context) : wanted;
}

std::string halve_context(RungSpec& rung) {
  auto& length = rung.server.context_length;
  const int before = length;
  length = std::max(length / 2, std::min(length, smallest_context_length));
  return fmt::format("with a context of {} tokens for each slot instead of {}", length, before);
}

/// A build without --fit takes "auto" for all of them.
bool finds_out_what_fits(const Engine& engine) {
  return engine.flags.empty() || engine.knows("--fit");
}

std::string take_fewer_layers(RungSpec& rung,
                              const std::optional<server::OffloadedLayers>& logged) {
  auto& layers = rung.server.gpu_layers;
  if (layers && *layers < 0 && finds_out_what_fits(rung.server.engine)) {
    layers.reset();
    return "with as many layers on the GPU as fit instead of all";
  }
  int before = logged ? logged->on_gpu : rung.layers;
  if (layers && *layers >= 0) before = rung.layers > 0 ? std::min(*layers, rung.layers) : *layers;
  layers = before / 2;
  return fmt::format("with {} layers on the GPU instead of {}", *layers, before);
}

}  // namespace

std::uint64_t RungSpec::memory_need() const {
  if (memory_fixed == 0) return 0;
  return memory_fixed + memory_per_token * static_cast<std::uint64_t>(server.context_length) *
                            static_cast<std::uint64_t>(server.parallel);
}

/// Bytes that a server on the CPU takes: the weights, keys and values of every slot in half
/// precision (2 bytes, once for keys and once for values), and room for the computation.
void fit_to_file(RungSpec& rung, const GgufInfo& file, std::uint64_t added) {
  constexpr std::uint64_t computation = 256u << 20;
  const std::uint64_t head = file.heads > 0 ? file.hidden_size / file.heads : 0;
  const bool on_gpu = rung.server.on_gpu();
  rung.memory_fixed = on_gpu ? 0 : file.file_size + added + computation;
  rung.memory_per_token = 2ull * 2 * file.layers * file.kv_heads * head;
  rung.trained_context = static_cast<int>(std::min(file.context_length, 1U << 24));
  rung.layers = static_cast<int>(std::min(file.layers, 1U << 24)) + 1;  // and the output's
  rung.server.sliding_window = file.sliding_window != 0;
  make_full(rung);
}

void make_full(RungSpec& rung) {
  rung.server.context_length = full_context(rung);
  rung.server.gpu_layers = rung.asked_layers;
}

bool can_be_smaller(const RungSpec& rung, OutOfMemory remedy) {
  switch (remedy) {
    case OutOfMemory::next_device: return false;
    case OutOfMemory::fewer_layers: return rung.server.on_gpu() && rung.asked_layers != 0;
    case OutOfMemory::smaller_context: return full_context(rung) > smallest_context_length;
  }
  return false;
}

std::string make_smaller(RungSpec& rung, OutOfMemory remedy,
                         const std::optional<server::OffloadedLayers>& logged) {
  return remedy == OutOfMemory::fewer_layers ? take_fewer_layers(rung, logged)
                                             : halve_context(rung);
}

}  // namespace llamavisor::supervisor
