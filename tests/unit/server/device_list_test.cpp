#include "server/device_list.hpp"

#include "catch.hpp"

#include <string>
#include <vector>

using namespace llamavisor::server;

namespace {

using Lines = std::vector<std::string>;

Lines read(const Lines& lines) {
  return read_device_list(lines);
}

}  // namespace

TEST_CASE("devices are read from what the engine prints, in llamavisor's own names",
          "[device_list]") {
  CHECK(read({"ggml_cuda_init: found 2 ROCm devices:", "  Device 0: AMD Radeon RX 7900, gfx1100",
              "Available devices:",
              "  Vulkan0: llvmpipe (LLVM 21.1.8, 256 bits) (24105 MiB, 23718 MiB free)",
              "  ROCm1: AMD Radeon RX 7900 XTX (24560 MiB, 24500 MiB free)",
              "  CUDA12: NVIDIA H200 (143156 MiB, 142000 MiB free)", "  BLAS: OpenBLAS"}) ==
        Lines{"vulkan:0 (llvmpipe (LLVM 21.1.8, 256 bits))", "rocm:1 (AMD Radeon RX 7900 XTX)",
              "cuda:12 (NVIDIA H200)", "BLAS (OpenBLAS)"});
}

TEST_CASE("an engine without a device lists none", "[device_list]") {
  CHECK(read({"Available devices:", "  (none)"}).empty());
  CHECK(read({}).empty());
  CHECK(read({"  Vulkan0: not in a list"}).empty());
}

TEST_CASE("a list of devices ends a sentence", "[device_list]") {
  CHECK(describe_device_list({}) == "it lists none");
  CHECK(describe_device_list({"a", "b"}) == "it lists a, b");
}
