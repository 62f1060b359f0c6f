#include "supervisor/rung_spec.hpp"

#include "catch.hpp"

#include <optional>
#include <string>

using namespace llamavisor;
using namespace llamavisor::supervisor;

namespace {

/// Trained for 4096 tokens, with 32 layers.
const GgufInfo file{.context_length = 4096,
                    .layers = 32,
                    .hidden_size = 64,
                    .heads = 8,
                    .kv_heads = 2,
                    .file_size = 1000};

RungSpec rung_on(const std::string& device, int context = 0, std::optional<int> layers = {}) {
  RungSpec rung{.asked_context = context, .asked_layers = layers};
  rung.server.device = device;
  rung.server.parallel = 2;
  fit_to_file(rung, file);
  return rung;
}

std::optional<int> fewer(RungSpec rung, std::optional<server::OffloadedLayers> logged = {}) {
  make_smaller(rung, OutOfMemory::fewer_layers, logged);
  return rung.server.gpu_layers;
}

}  // namespace

TEST_CASE("a context is as asked for, but no longer than trained for, and 8192 where unset",
          "[supervisor]") {
  CHECK(rung_on("cpu").server.context_length == 4096);
  CHECK(rung_on("cpu", 100).server.context_length == 100);
  CHECK(rung_on("cpu", 9999).server.context_length == 4096);
  RungSpec untold;
  fit_to_file(untold, {});
  CHECK(untold.server.context_length == 8192);
}

TEST_CASE("the need of memory grows with the context, and is the CPU's only", "[supervisor]") {
  // 2 bytes, keys and values, 32 layers, 2 heads of 8: for each token of both slots.
  CHECK(rung_on("cpu", 200).memory_need() - rung_on("cpu", 100).memory_need() ==
        2ULL * 2 * 32 * 2 * 8 * 100 * 2);
  CHECK(rung_on("vulkan:0").memory_need() == 0);
}

TEST_CASE("fewer layers: as many as fit instead of all, else half", "[supervisor]") {
  CHECK(fewer(rung_on("vulkan:0", 0, -1)) == std::nullopt);
  CHECK(fewer(rung_on("vulkan:0", 0, 20)) == 10);
  CHECK(fewer(rung_on("vulkan:0", 0, 999)) == 16);  // of 33, with the output's
  CHECK(fewer(rung_on("vulkan:0")) == 16);
  CHECK(fewer(rung_on("vulkan:0"), server::OffloadedLayers{.on_gpu = 12, .total = 33}) == 6);
  auto old = rung_on("vulkan:0", 0, -1);
  old.server.engine.flags = {"--n-gpu-layers"};
  CHECK(fewer(old) == 16);
}

TEST_CASE("a smaller context is half of it, and never useless", "[supervisor]") {
  auto rung = rung_on("cpu", 400);
  CHECK(make_smaller(rung, OutOfMemory::smaller_context, {}) ==
        "with a context of 256 tokens for each slot instead of 400");
  const auto need = rung.memory_need();
  make_full(rung);
  CHECK(rung.server.context_length == 400);
  CHECK(rung.memory_need() > need);
}

TEST_CASE("what cannot be made smaller is known beforehand", "[supervisor]") {
  CHECK_FALSE(can_be_smaller(rung_on("vulkan:0"), OutOfMemory::next_device));
  CHECK(can_be_smaller(rung_on("vulkan:0"), OutOfMemory::fewer_layers));
  CHECK_FALSE(can_be_smaller(rung_on("vulkan:0", 0, 0), OutOfMemory::fewer_layers));
  CHECK_FALSE(can_be_smaller(rung_on("cpu"), OutOfMemory::fewer_layers));
  CHECK(can_be_smaller(rung_on("cpu"), OutOfMemory::smaller_context));
  CHECK_FALSE(can_be_smaller(rung_on("cpu", 256), OutOfMemory::smaller_context));
}
