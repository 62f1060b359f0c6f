#include "tokenizer.hpp"

#include <array>
#include <utility>

namespace fake {
namespace {

constexpr std::array<std::pair<int, std::string_view>, 4> controls{{
    {bos, "<|startoftext|>"},
    {im_start, "<|im_start|>"},
    {im_end, "<|im_end|>"},
    {eos, "<|endoftext|>"},
}};

}  // namespace

bool is_token(int id) {
  return (id >= 0 && id < 256) || (id >= bos && id < vocabulary);
}

std::vector<int> tokenize(std::string_view text, bool add_bos, bool special) {
  std::vector<int> ids;
  if (add_bos) ids.push_back(bos);
  while (!text.empty()) {
    std::size_t taken = 0;
    for (const auto& [id, written] : controls) {
      if (!special || !text.starts_with(written)) continue;
      ids.push_back(id);
      taken = written.size();
    }
    if (taken == 0) {
      ids.push_back(static_cast<unsigned char>(text.front()));
      taken = 1;
    }
    text.remove_prefix(taken);
  }
  return ids;
}

std::string piece(int id) {
  for (const auto& [control, written] : controls) {
    if (id == control) return std::string(written);
  }
  return std::string(1, static_cast<char>(id));
}

std::string detokenize(std::span<const int> ids) {
  std::string text;
  for (const int id : ids)
    text += piece(id);
  return text;
}

std::size_t incomplete_tail(std::string_view text) {
  for (std::size_t back = 1; back <= 3 && back <= text.size(); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if ((byte & 0xC0) == 0x80) continue;
    const std::size_t length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1;
    return back < length ? back : 0;
  }
  return 0;
}

}  // namespace fake
