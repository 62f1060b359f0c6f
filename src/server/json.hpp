/// \file
/// Boost.JSON as we use it: bounded depth, and a typed error for what does not fit.
#pragma once

#include <llamavisor/error.hpp>

#include <boost/json.hpp>
#include <fmt/format.h>

#include <string_view>

namespace llamavisor::server {

[[noreturn]] inline void throw_protocol_error(std::string_view what) {
  throw Error(errc::protocol_error,
              fmt::format("llama-server gave an answer that it should not give: {}; "
                          "is this engine pack a stock build? (tools/get-engine)",
                          what));
}

/// Parses a text; throws `protocol_error`.
inline boost::json::value parse_json(std::string_view text) {
  boost::json::error_code error;
  boost::json::parse_options options;
  options.max_depth = 64;
  auto value = boost::json::parse(text, error, {}, options);
  if (error) throw_protocol_error(fmt::format("JSON, {}", error.message()));
  return value;
}

/// A member of an object, or null where it is missing or the value is no object.
inline const boost::json::value* find(const boost::json::value& value, std::string_view key) {
  const auto* object = value.if_object();
  return object ? object->if_contains(key) : nullptr;
}

inline std::string_view text_or(const boost::json::value* value, std::string_view otherwise) {
  const auto* text = value ? value->if_string() : nullptr;
  return text ? std::string_view(*text) : otherwise;
}

inline double number_or(const boost::json::value* value, double otherwise) {
  if (!value || !value->is_number()) return otherwise;
  boost::json::error_code error;
  const auto number = value->to_number<double>(error);
  return error ? otherwise : number;
}

inline int int_or(const boost::json::value* value, int otherwise) {
  if (!value || !value->is_number()) return otherwise;
  boost::json::error_code error;
  const auto number = value->to_number<int>(error);
  return error ? otherwise : number;
}

inline bool bool_or(const boost::json::value* value, bool otherwise) {
  const auto* flag = value ? value->if_bool() : nullptr;
  return flag ? *flag : otherwise;
}

}  // namespace llamavisor::server
