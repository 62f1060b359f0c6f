#include "scoring/json_text.hpp"

#include <llamavisor/error.hpp>

#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/value_stack.hpp>
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>

namespace llamavisor::scoring {

namespace json = boost::json;

namespace {

constexpr std::size_t deepest = 64;

/// What `basic_parser` tells, as a value. `boost::json::parse` may be one unit in the last place
/// off in its doubles (and before Boost 1.82 cannot be told otherwise).
// The names of the members are Boost's.
struct ExactHandler {
  static constexpr std::size_t max_object_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_array_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_key_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_string_size = static_cast<std::size_t>(-1);

  using Status = json::error_code;

  bool on_document_begin(Status&) {
    stack.reset();
    return true;
  }
  bool on_document_end(Status&) { return true; }
  bool on_array_begin(Status&) { return true; }
  bool on_array_end(std::size_t count, Status&) {
    stack.push_array(count);
    return true;
  }
  bool on_object_begin(Status&) { return true; }
  bool on_object_end(std::size_t count, Status&) {
    stack.push_object(count);
    return true;
  }
  bool on_key_part(json::string_view part, std::size_t, Status&) {
    stack.push_chars(part);
    return true;
  }
  bool on_key(json::string_view part, std::size_t, Status&) {
    stack.push_key(part);
    return true;
  }
  bool on_string_part(json::string_view part, std::size_t, Status&) {
    stack.push_chars(part);
    return true;
  }
  bool on_string(json::string_view part, std::size_t, Status&) {
    stack.push_string(part);
    return true;
  }
  bool on_number_part(json::string_view part, Status&) {
    number.append(part.data(), part.size());
    return true;
  }
  bool on_int64(std::int64_t value, json::string_view, Status&) {
    number.clear();
    stack.push_int64(value);
    return true;
  }
  bool on_uint64(std::uint64_t value, json::string_view, Status&) {
    number.clear();
    stack.push_uint64(value);
    return true;
  }
  bool on_double(double, json::string_view part, Status& error) {
    number.append(part.data(), part.size());
    double value = 0;
    std::from_chars(number.data(), number.data() + number.size(), value);
    // Out of range: too near to zero is zero, too far from it is no number of JSON's.
    if (const bool written_small =
            number.find("e-") != std::string::npos || number.find("E-") != std::string::npos;
        value == 0 && !written_small) {
      value = std::strtod(number.c_str(), nullptr);
    }
    number.clear();
    if (!std::isfinite(value)) {
      error = json::error::exponent_overflow;
      return false;
    }
    stack.push_double(value);
    return true;
  }
  bool on_bool(bool value, Status&) {
    stack.push_bool(value);
    return true;
  }
  bool on_null(Status&) {
    stack.push_null();
    return true;
  }
  bool on_comment_part(json::string_view, Status&) { return true; }
  bool on_comment(json::string_view, Status&) { return true; }

  json::value_stack stack{};
  std::string number{};
};

void append(std::string& out, const json::value& value);

void append_array(std::string& out, const json::array& array) {
  out += '[';
  for (std::size_t at = 0; at < array.size(); ++at) {
    if (at != 0) out += ", ";
    append(out, array[at]);
  }
  out += ']';
}

void append_object(std::string& out, const json::object& object) {
  out += '{';
  bool first = true;
  for (const auto& [key, value] : object) {
    if (!std::exchange(first, false)) out += ", ";
    out += quoted(key);
    out += ": ";
    append(out, value);
  }
  out += '}';
}

void append(std::string& out, const json::value& value) {
  switch (value.kind()) {
    case json::kind::null: out += "null"; break;
    case json::kind::bool_: out += value.get_bool() ? "true" : "false"; break;
    case json::kind::int64: out += std::to_string(value.get_int64()); break;
    case json::kind::uint64: out += std::to_string(value.get_uint64()); break;
    case json::kind::double_: out += to_text(value.get_double()); break;
    case json::kind::string: out += quoted(value.get_string()); break;
    case json::kind::array: append_array(out, value.get_array()); break;
    case json::kind::object: append_object(out, value.get_object()); break;
  }
}

}  // namespace

json::value parse_exactly(std::string_view text) {
  json::parse_options options;
  options.max_depth = deepest;
  json::basic_parser<ExactHandler> parser(options);
  json::error_code error;
  const auto used = parser.write_some(false, text.data(), text.size(), error);
  if (!error && used < text.size()) error = json::error::extra_data;
  if (error) {
    throw Error(errc::invalid_question,
                fmt::format("this is no JSON: {} at byte {}", error.message(), used));
  }
  return parser.handler().stack.release();
}

std::string to_text(const json::value& value) {
  std::string out;
  append(out, value);
  return out;
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      case '\b': out += "\\b"; break;
      case '\f': out += "\\f"; break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
        } else {
          out += c;
        }
    }
  }
  return out + '"';
}

std::string to_text(double number) {
  std::array<char, 32> buffer{};
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number,
                                    std::chars_format::scientific);
  std::string_view text(buffer.data(), static_cast<std::size_t>(result.ptr - buffer.data()));
  std::string sign;
  if (text.front() == '-') {
    sign = "-";
    text.remove_prefix(1);
  }
  const auto e = text.find('e');
  std::string digits(1, text.front());
  if (e > 2) digits += text.substr(2, e - 2);
  const int exponent = std::atoi(text.data() + e + 1);
  const auto count = static_cast<int>(digits.size());
  if (exponent < -4 || exponent > 15) {
    const auto fraction = count > 1 ? "." + digits.substr(1) : "";
    return fmt::format("{}{}{}e{}{:02}", sign, digits[0], fraction, exponent < 0 ? '-' : '+',
                       std::abs(exponent));
  }
  if (exponent < 0)
    return sign + "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
  if (count <= exponent + 1) {
    return sign + digits + std::string(static_cast<std::size_t>(exponent + 1 - count), '0') + ".0";
  }
  const auto point = static_cast<std::size_t>(exponent + 1);
  return sign + digits.substr(0, point) + "." + digits.substr(point);
}

}  // namespace llamavisor::scoring
