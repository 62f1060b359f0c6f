#include "device/drm.hpp"

#include "device/sysfs.hpp"

#include <system_error>

namespace llamavisor::device {

namespace {

constexpr std::uint64_t gib = 1ULL << 30;

struct Pool {
  std::uint64_t total = 0, used = 0;
};

bool looks_integrated(std::uint64_t vram, std::uint64_t gtt) {
  return vram <= 4 * gib && gtt >= 8 * gib && gtt >= 4 * vram;
}

}  // namespace

DrmFacts read_drm(const std::filesystem::path& folder) {
  const auto pool = [&](const char* total, const char* used) {
    return Pool{.total = read_number(folder / total).value_or(0),
                .used = read_number(folder / used).value_or(0)};
  };
  const auto vram = pool("mem_info_vram_total", "mem_info_vram_used");
  const auto gtt = pool("mem_info_gtt_total", "mem_info_gtt_used");
  std::error_code error;
  const bool has_board = std::filesystem::exists(folder / "board_info", error);
  const auto vendor = first_line(folder / "mem_info_vram_vendor");
  const bool has_vendor = !vendor.empty() && vendor != "unknown";

  DrmFacts facts{.product = first_line(folder / "product_name")};
  facts.kind_is_guess = has_board != has_vendor || vram.total == 0;
  const bool integrated =
      facts.kind_is_guess ? looks_integrated(vram.total, gtt.total) : !has_board;
  facts.kind = integrated ? DeviceKind::integrated : DeviceKind::discrete;
  facts.memory_total = vram.total + (integrated ? gtt.total : 0);
  const auto used = vram.used + (integrated ? gtt.used : 0);
  facts.memory_free = facts.memory_total > used ? facts.memory_total - used : 0;
  return facts;
}

}  // namespace llamavisor::device
