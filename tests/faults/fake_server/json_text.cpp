#include "json_text.hpp"

#include <charconv>
#include <cmath>
#include <cstdio>

namespace fake {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";

/// Length of the valid UTF-8 character that a text begins with; 0 where there is none.
std::size_t character_length(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return 0;
  for (std::size_t at = 1; at < length; ++at) {
    if ((static_cast<unsigned char>(text[at]) & 0xC0) != 0x80) return 0;
  }
  const auto second = static_cast<unsigned char>(text[1]);
  if ((lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F) ||
      (lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second > 0x8F)) {
    return 0;
  }
  return length;
}

void append_ascii(std::string& out, char c) {
  switch (c) {
    case '"': out += "\\\""; return;
    case '\\': out += "\\\\"; return;
    case '\b': out += "\\b"; return;
    case '\f': out += "\\f"; return;
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    default: break;
  }
  if (static_cast<unsigned char>(c) >= 0x20) {
    out.push_back(c);
    return;
  }
  char escape[8];
  std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
  out += escape;
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  out.push_back('"');
  while (!text.empty()) {
    const auto length = character_length(text);
    if (length == 0) {
      out += replacement;
    } else if (length == 1) {
      append_ascii(out, text.front());
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  out.push_back('"');
}

std::string json_string(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

std::string json_number(double value) {
  if (!std::isfinite(value)) return "0.0";
  char text[32];
  const auto result = std::to_chars(text, text + sizeof text, value);
  std::string number(text, result.ptr);
  if (number.find_first_of(".e") == std::string::npos) number += ".0";
  return number;
}

std::string error_body(int code, std::string_view message, std::string_view type,
                       std::string_view more) {
  std::string body = "{\"error\":{\"code\":" + std::to_string(code) + ",\"message\":";
  append_json_string(body, message);
  body += ",\"type\":";
  append_json_string(body, type);
  return body.append(more).append("}}");
}

std::string outer_error_body(int code, std::string_view message, std::string_view type) {
  return "{\"error\":{\"message\":" + json_string(message) + ",\"type\":" + json_string(type) +
         ",\"code\":" + std::to_string(code) + "}}";
}

}  // namespace fake
