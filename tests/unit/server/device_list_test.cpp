#include "server/device_list.hpp"

#include "catch.hpp"

#include <cstdint>
#include <string>
#include <vector>

using namespace llamavisor::server;

namespace {

using Lines = std::vector<std::string>;
constexpr std::uint64_t mib = 1 << 20;

std::vector<ListedDevice> read(const Lines& lines) {
  return read_device_list(lines);
}

}  // namespace

TEST_CASE("devices are read from what the engine prints, in llamavisor's own names",
          "[device_list]") {
  const auto devices =
      read({"ggml_cuda_init: found 2 ROCm devices:", "  Device 0: AMD Radeon RX 7900, gfx1100",
            "Available devices:",
            "  Vulkan0: llvmpipe (LLVM 21.1.8, 256 bits) (24105 MiB, 23718 MiB free)",
            "  ROCm1: AMD Radeon RX 7900 XTX (24560 MiB, 24500 MiB free)",
            "  CUDA12: NVIDIA H200 (143156 MiB, 142000 MiB free)", "  BLAS: OpenBLAS"});
  CHECK(devices == std::vector<ListedDevice>{
                       {"vulkan:0", "llvmpipe (LLVM 21.1.8, 256 bits)", 24105 * mib, 23718 * mib},
                       {"rocm:1", "AMD Radeon RX 7900 XTX", 24560 * mib, 24500 * mib},
                       {"cuda:12", "NVIDIA H200", 143156 * mib, 142000 * mib},
                       {"BLAS", "OpenBLAS"}});
}

TEST_CASE("memory that an engine cannot mean is no memory", "[device_list]") {
  for (const std::string memory :
       {"(18446744073709551615 MiB, 1 MiB free)", "(-1 MiB, 1 MiB free)", "(1 GiB, 1 MiB free)",
        "(99999999999999999999 MiB, 1 MiB free)", "( free)", "(1 MiB, free)"}) {
    INFO(memory);
    const auto devices = read({"Available devices:", "  CUDA0: A card " + memory});
    CHECK(devices == std::vector<ListedDevice>{{"cuda:0", "A card"}});
  }
  const auto devices = read({"Available devices:", "  CUDA0: A card (2 MiB, 3 MiB free)"});
  CHECK(devices == std::vector<ListedDevice>{{"cuda:0", "A card", 2 * mib, 2 * mib}});
}

TEST_CASE("an engine without a device lists none", "[device_list]") {
  CHECK(read({"Available devices:", "  (none)"}).empty());
  CHECK(read({}).empty());
  CHECK(read({"  Vulkan0: not in a list"}).empty());
}

TEST_CASE("a list of devices ends a sentence", "[device_list]") {
  CHECK(describe_device_list({}) == "it lists none");
  CHECK(describe_device_list({{"a", "x"}, {"b", "y (z)"}}) == "it lists a (x), b (y (z))");
}
