#include "gguf/tensor_types.hpp"

#include <array>
#include <cstddef>

namespace llamavisor::gguf {
namespace {

// Numbers: `enum ggml_type` in ggml/include/ggml.h; sizes: GGML_QUANT_SIZES in
// gguf-py/gguf/constants.py, both in https://github.com/ggml-org/llama.cpp (2026).
constexpr std::array<TensorType, 42> tensor_types{{
    {"F32", 1, 4},
    {"F16", 1, 2},
    {"Q4_0", 32, 18},
    {"Q4_1", 32, 20},
    {"Q4_2"},
    {"Q4_3"},
    {"Q5_0", 32, 22},
    {"Q5_1", 32, 24},
    {"Q8_0", 32, 34},
    {"Q8_1", 32, 40},
    {"Q2_K", 256, 84},
    {"Q3_K", 256, 110},
    {"Q4_K", 256, 144},
    {"Q5_K", 256, 176},
    {"Q6_K", 256, 210},
    {"Q8_K", 256, 292},
    {"IQ2_XXS", 256, 66},
    {"IQ2_XS", 256, 74},
    {"IQ3_XXS", 256, 98},
    {"IQ1_S", 256, 50},
    {"IQ4_NL", 32, 18},
    {"IQ3_S", 256, 110},
    {"IQ2_S", 256, 82},
    {"IQ4_XS", 256, 136},
    {"I8", 1, 1},
    {"I16", 1, 2},
    {"I32", 1, 4},
    {"I64", 1, 8},
    {"F64", 1, 8},
    {"IQ1_M", 256, 56},
    {"BF16", 1, 2},
    {"Q4_0_4_4"},
    {"Q4_0_4_8"},
    {"Q4_0_8_8"},
    {"TQ1_0", 256, 54},
    {"TQ2_0", 256, 66},
    {"IQ4_NL_4_4"},
    {"IQ4_NL_4_8"},
    {"IQ4_NL_8_8"},
    {"MXFP4", 32, 17},
    {"NVFP4", 64, 36},
    {"Q1_0", 128, 18},
}};

// `enum llama_ftype` in include/llama.h; the main tensor type as llama-quantize chooses it
// (src/llama-quant.cpp). An entry without a name was dropped.
constexpr std::array<FileType, 41> file_types{{
    {"F32", 0},     {"F16", 1},     {"Q4_0", 2},    {"Q4_1", 3},       {"", 0},
    {"", 0},        {"", 0},        {"Q8_0", 8},    {"Q5_0", 6},       {"Q5_1", 7},
    {"Q2_K", 10},   {"Q3_K_S", 11}, {"Q3_K_M", 11}, {"Q3_K_L", 11},    {"Q4_K_S", 12},
    {"Q4_K_M", 12}, {"Q5_K_S", 13}, {"Q5_K_M", 13}, {"Q6_K", 14},      {"IQ2_XXS", 16},
    {"IQ2_XS", 17}, {"Q2_K_S", 10}, {"IQ3_XS", 21}, {"IQ3_XXS", 18},   {"IQ1_S", 19},
    {"IQ4_NL", 20}, {"IQ3_S", 21},  {"IQ3_M", 21},  {"IQ2_S", 17},     {"IQ2_M", 22},
    {"IQ4_XS", 23}, {"IQ1_M", 29},  {"BF16", 30},   {"", 0},           {"", 0},
    {"", 0},        {"TQ1_0", 34},  {"TQ2_0", 35},  {"MXFP4_MOE", 39}, {"NVFP4", 40},
    {"Q1_0", 41},
}};

}  // namespace

std::optional<TensorType> tensor_type(std::uint32_t number) {
  if (number >= tensor_types.size()) return std::nullopt;
  return tensor_types[number];
}

std::optional<FileType> file_type(std::uint64_t number) {
  if (number >= file_types.size()) return std::nullopt;
  const auto& type = file_types[static_cast<std::size_t>(number)];
  if (type.name.empty()) return std::nullopt;
  return type;
}

}  // namespace llamavisor::gguf
