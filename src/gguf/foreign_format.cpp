#include "gguf/foreign_format.hpp"

#include <array>

namespace llamavisor::gguf {
namespace {

using namespace std::string_view_literals;

struct Format {
  std::string_view start;
  std::string_view words;
};

constexpr auto lfs = "a Git LFS pointer; fetch the file itself with 'git lfs pull'"sv;
constexpr auto web_page = "a web page; the download has failed"sv;
constexpr auto old_ggml = "the format before GGUF; convert the model anew"sv;

constexpr std::array<Format, 12> formats{{{"version https://git-lfs", lfs},
                                          {"<!DOCTYPE", web_page},
                                          {"<!doctype", web_page},
                                          {"<html", web_page},
                                          {"<?xml", web_page},
                                          {"PK\x03\x04", "a ZIP archive, such as a PyTorch model"},
                                          {"\x1F\x8B", "compressed with gzip"},
                                          {"(\xB5/\xFD", "compressed with zstd"},
                                          {"lmgg", old_ggml},
                                          {"fmgg", old_ggml},
                                          {"tjgg", old_ggml},
                                          {"{\"", "JSON"}}};

bool is_safetensors(std::string_view start) {
  // The length of a JSON text, in eight bytes, and the text.
  return start.size() > 9 && start.substr(6, 2) == "\0\0"sv && start.substr(8, 2) == "{\"";
}

}  // namespace

std::string describe_foreign(std::string_view start) {
  if (start.empty()) return "it is empty";
  for (const auto& format : formats) {
    if (start.starts_with(format.start)) return "it is " + std::string(format.words);
  }
  if (is_safetensors(start)) return "it is a safetensors file; convert it to GGUF";
  if (start.find_first_not_of('\0') == std::string_view::npos) {
    return "it starts with zeros; the download has not finished";
  }
  return "it does not start with 'GGUF'";
}

}  // namespace llamavisor::gguf
