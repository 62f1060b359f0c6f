#include "backend/missing_code.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace llamavisor::backend {

std::string missing_code(const Engine& engine, const Device& device) {
  const auto& targets = engine.gfx_targets;
  const auto& gfx = device.effective_gfx;
  if (gfx.empty() || targets.empty()) return {};
  if (std::find(targets.begin(), targets.end(), gfx) != targets.end()) return {};
  return fmt::format("the {} engine has no code for {}, only for {}: get one that has",
                     engine.flavour, gfx, fmt::join(targets, ", "));
}

}  // namespace llamavisor::backend
