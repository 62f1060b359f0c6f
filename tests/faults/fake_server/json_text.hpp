// JSON as text. Events are written by hand: a stream of 100,000 tokens is to be quick.
#pragma once

#include <string>
#include <string_view>

namespace fake {

/// With its quotes. Bytes that are no UTF-8 become U+FFFD, as in the real server.
void append_json_string(std::string& out, std::string_view text);
std::string json_string(std::string_view text);

std::string json_number(double value);

/// {"error":{"code":...,"message":...,"type":...}}; `more` is added inside, with its comma.
std::string error_body(int code, std::string_view message, std::string_view type,
                       std::string_view more = {});

/// The same with another order of members: what the server's outer parts send.
std::string outer_error_body(int code, std::string_view message, std::string_view type);

}  // namespace fake
