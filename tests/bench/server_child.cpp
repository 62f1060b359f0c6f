#include "server_child.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string_view>

namespace llamavisor::bench {

namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The parent is the second word after the name in brackets.
bool is_own_child(const fs::path& process) {
  const auto number = process.filename().string();
  if (number.find_first_not_of("0123456789") != std::string::npos) return false;
  const auto stat = read(process / "stat");
  const auto after_name = stat.rfind(')');
  if (after_name == std::string::npos || after_name + 4 > stat.size()) return false;
  return stat.substr(after_name + 4).starts_with(fmt::format("{} ", ::getpid()));
}

std::string key_of(const fs::path& process) {
  constexpr std::string_view name = "LLAMA_API_KEY=";
  const auto environment = read(process / "environ");
  for (std::size_t begin = 0; begin < environment.size();) {
    const auto end = environment.find('\0', begin);
    const auto entry = std::string_view(environment).substr(begin, end - begin);
    if (entry.starts_with(name)) return std::string(entry.substr(name.size()));
    begin = end == std::string::npos ? environment.size() : end + 1;
  }
  return {};
}

}  // namespace

ServerChild find_server(const fs::path& runtime_dir) {
  ServerChild server;
  for (const auto& entry : fs::recursive_directory_iterator(runtime_dir)) {
    if (entry.is_socket()) server.socket = entry.path();
  }
  for (const auto& process : fs::directory_iterator("/proc")) {
    if (server.key.empty() && is_own_child(process.path())) server.key = key_of(process.path());
  }
  if (server.socket.empty() || server.key.empty()) {
    throw std::runtime_error("the library's server is not to be found");
  }
  return server;
}

}  // namespace llamavisor::bench
