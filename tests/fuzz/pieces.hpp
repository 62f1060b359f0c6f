// Cuts an input into pieces, as its own first bytes say.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>

namespace llamavisor::fuzz {

/// The first two bytes choose the cuts; the rest is what is cut.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size)
      : seed_(size > 0 ? data[0] : 0),
        choice_(size > 1 ? data[1] : 0),
        bytes_(reinterpret_cast<const char*>(data) + (size < 2 ? size : 2),
               size < 2 ? 0 : size - 2) {}

  std::string_view bytes() const { return bytes_; }
  std::uint8_t choice() const { return choice_; }

  /// Hands each piece over in memory of its own.
  template <typename Feed>
  void cut(Feed feed) const {
    std::uint32_t state = seed_ * 2654435761u + 1;
    for (std::string_view rest = bytes_; !rest.empty();) {
      state = state * 1664525u + 1013904223u;
      const std::size_t wanted = (state >> 24) % (1u + seed_ % 64u);
      const auto piece = rest.substr(0, wanted);
      const auto copy = std::make_unique<char[]>(piece.size());
      piece.copy(copy.get(), piece.size());
      feed(std::string_view(copy.get(), piece.size()));
      rest.remove_prefix(piece.size());
      if (seed_ % 64 == 0) {  // or byte by byte
        for (const char byte : rest)
          feed(std::string_view(&byte, 1));
        return;
      }
    }
  }

 private:
  std::uint8_t seed_;
  std::uint8_t choice_;
  std::string_view bytes_;
};

inline void require(bool promise) {
  if (!promise) std::abort();
}

}  // namespace llamavisor::fuzz
