#include "backend/vulkan_devices.hpp"

#include "catch.hpp"

#include <string>
#include <vector>

using namespace llamavisor;
using llamavisor::backend::vulkan_devices;

namespace {

constexpr std::uint64_t gib = 1ULL << 30;

Device amd(std::string pci, std::string gfx, std::uint64_t memory,
           DeviceKind kind = DeviceKind::discrete) {
  return {.name = "rocm:0",
          .vendor = "AMD",
          .model = "1002:7550",
          .kind = kind,
          .gfx = gfx,
          .effective_gfx = gfx,
          .pci = pci,
          .uuid = "GPU-" + pci,
          .memory_total = memory};
}

Device nvidia(std::string pci, std::string model) {
  return {.name = "cuda:0",
          .vendor = "NVIDIA",
          .model = std::move(model),
          .pci = pci,
          .uuid = "GPU-" + pci};
}

Device joined(std::string model, std::uint64_t memory, const std::vector<Device>& hardware) {
  const std::vector<server::ListedDevice> listed{{"vulkan:0", std::move(model), memory, memory}};
  const auto devices = vulkan_devices(listed, hardware);
  REQUIRE(devices.size() == 1);
  return devices.front();
}

}  // namespace

TEST_CASE("a Vulkan device is the one card of its vendor", "[backend]") {
  const std::vector hardware{nvidia("0000:01:00.0", "NVIDIA H200"),
                             amd("0000:03:00.0", "gfx1201", 16 * gib)};
  const auto h200 = joined("NVIDIA H200", 140 * gib, hardware);
  CHECK(h200.pci == "0000:01:00.0");
  CHECK(h200.uuid == "GPU-0000:01:00.0");
  CHECK(h200.vendor == "NVIDIA");
  CHECK(h200.kind == DeviceKind::discrete);
  CHECK_FALSE(h200.kind_is_guess);
  CHECK(h200.memory_free == 140 * gib);
  const auto radeon = joined("AMD Radeon RX 9070 (RADV GFX1201)", 16 * gib, hardware);
  CHECK(radeon.pci == "0000:03:00.0");
  CHECK(radeon.gfx == "gfx1201");
}

TEST_CASE("of two cards of a vendor the instruction set, the name or the memory decides",
          "[backend]") {
  const std::vector two_amd{amd("0000:03:00.0", "gfx1100", 24 * gib),
                            amd("0000:0d:00.0", "gfx1036", 40 * gib, DeviceKind::integrated)};
  CHECK(joined("AMD Radeon RX 7900 XTX (RADV NAVI31)", 24 * gib, two_amd).pci ==
        "0000:03:00.0 or 0000:0d:00.0");  // an integrated one may have any memory
  CHECK(joined("AMD Radeon Graphics (RADV GFX1036)", 16 * gib, two_amd).pci == "0000:0d:00.0");
  CHECK(joined("AMD Radeon Graphics (RADV GFX1036)", 16 * gib, two_amd).kind ==
        DeviceKind::integrated);
  const std::vector two_cards{amd("0000:03:00.0", "gfx1100", 24 * gib),
                              amd("0000:43:00.0", "gfx1101", 16 * gib)};
  CHECK(joined("AMD Radeon RX 7800 XT (RADV NAVI32)", 16 * gib, two_cards).pci == "0000:43:00.0");
  const std::vector two_nvidia{nvidia("0000:01:00.0", "NVIDIA H200"),
                               nvidia("0000:02:00.0", "NVIDIA A2")};
  CHECK(joined("NVIDIA A2", 16 * gib, two_nvidia).pci == "0000:02:00.0");
}

TEST_CASE("what two equal cards leave open is told, not guessed", "[backend]") {
  const std::vector twins{amd("0000:03:00.0", "gfx1100", 24 * gib),
                          amd("0000:43:00.0", "gfx1100", 24 * gib)};
  const auto device = joined("AMD Radeon RX 7900 XTX (RADV GFX1100)", 24 * gib, twins);
  CHECK(device.pci == "0000:03:00.0 or 0000:43:00.0");
  CHECK(device.uuid.empty());
  CHECK(device.gfx == "gfx1100");
  CHECK(device.kind == DeviceKind::discrete);
  CHECK_FALSE(device.kind_is_guess);
}

TEST_CASE("a renderer in software is no card, whatever cards there are", "[backend]") {
  const std::vector hardware{amd("0000:03:00.0", "gfx1100", 24 * gib)};
  for (const char* model :
       {"llvmpipe (LLVM 21.1.8, 256 bits)", "SwiftShader Device (LLVM 10.0.0)"}) {
    const auto device = joined(model, 24 * gib, hardware);
    CHECK(device.kind == DeviceKind::software);
    CHECK_FALSE(device.kind_is_guess);
    CHECK(device.pci.empty());
  }
}

TEST_CASE("of a device that no file tells of the kind is a guess, and says so", "[backend]") {
  for (const auto& [model, vendor, kind] :
       {std::tuple{"Intel(R) Arc(TM) A770 Graphics (DG2)", "Intel", DeviceKind::discrete},
        {"Intel(R) Arc(tm) B580 Graphics (BMG G21)", "Intel", DeviceKind::discrete},
        {"Intel(R) Arc(TM) Graphics (MTL)", "Intel", DeviceKind::integrated},
        {"Intel(R) UHD Graphics 770 (ADL-S GT1)", "Intel", DeviceKind::integrated},
        {"NVIDIA GeForce RTX 4090", "NVIDIA", DeviceKind::discrete},
        {"Apple M1 (G13G B1)", "", DeviceKind::integrated},
        {"", "", DeviceKind::integrated}}) {
    CAPTURE(model);
    const auto device = joined(model, 8 * gib, {});
    CHECK(device.vendor == vendor);
    CHECK(device.kind == kind);
    CHECK(device.kind_is_guess);
  }
}

TEST_CASE("what is not Vulkan's in a list is passed over", "[backend]") {
  const std::vector<server::ListedDevice> listed{{"BLAS", "OpenBLAS"}, {"vulkan:1", "A card"}};
  const auto devices = vulkan_devices(listed, {});
  REQUIRE(devices.size() == 1);
  CHECK(devices.front().name == "vulkan:1");
}
