// One id for each byte, and four control tokens.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fake {

inline constexpr int bos = 1000;       ///< <|startoftext|>
inline constexpr int im_start = 1001;  ///< <|im_start|>
inline constexpr int im_end = 1002;    ///< <|im_end|>
inline constexpr int eos = 1003;       ///< <|endoftext|>
inline constexpr int vocabulary = 1004;

bool is_token(int id);

/// `special`: control tokens that are written out become that token.
std::vector<int> tokenize(std::string_view text, bool add_bos, bool special);

/// A control token as it is written.
std::string piece(int id);

/// All pieces; may be no UTF-8.
std::string detokenize(std::span<const int> ids);

/// How many bytes at the end of a text begin a UTF-8 character without ending it.
std::size_t incomplete_tail(std::string_view text);

}  // namespace fake
