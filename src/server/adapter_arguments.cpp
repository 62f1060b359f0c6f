#include "server/adapter_arguments.hpp"

#include <fmt/format.h>

namespace llamavisor::server {
namespace {

void append_quoted(std::string& list, std::string_view entry) {
  list += list.empty() ? "\"" : ",\"";
  for (const char c : entry) {
    list += c;
    if (c == '"') list += c;
  }
  list += '"';
}

}  // namespace

AdapterArguments adapter_arguments(std::span<const Adapter> adapters) {
  AdapterArguments arguments;
  for (const auto& [file, scale] : adapters) {
    if (scale == 1) {
      append_quoted(arguments.plain, file.string());
    } else {
      append_quoted(arguments.scaled, fmt::format("{}:{}", file.string(), scale));
    }
  }
  return arguments;
}

bool can_be_told(const Adapter& adapter) {
  return adapter.scale == 1 || adapter.file.string().find(':') == std::string::npos;
}

}  // namespace llamavisor::server
