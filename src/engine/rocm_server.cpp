#include <llamavisor/error.hpp>

#include "engine/pack_description.hpp"
#include "engine/plain_server.hpp"

#include <fmt/format.h>

#include <system_error>

namespace llamavisor::engine {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const fs::path& named, std::string_view why) {
  throw Error(errc::engine_broken,
              fmt::format("ROCM_LLAMA_SERVER_PATH={} cannot be used: {}; name a llama-server that "
                          "was built with HIP, or its folder, or unset it",
                          named.string(), why));
}

Engine read_pack(const fs::path& named, const fs::path& folder) {
  try {
    return read_engine(folder);
  } catch (const Error& fault) {
    refuse(named, fault.what());
  }
}

/// The pack in a folder, where there is one; `server` must be its own, unless it is empty.
std::optional<Engine> pack_around(const fs::path& named, const fs::path& folder,
                                  const fs::path& server) {
  std::error_code error;
  if (!fs::exists(folder / description_name, error)) return std::nullopt;
  auto pack = read_pack(named, folder);
  if (!server.empty() && !fs::equivalent(pack.command.back(), server, error)) return std::nullopt;
  if (pack.flavour != "hip") refuse(named, fmt::format("it is a pack of flavour {}", pack.flavour));
  return pack;
}

}  // namespace

Engine read_rocm_server(const fs::path& named) {
  std::error_code error;
  auto server = fs::absolute(named, error).lexically_normal();
  if (error) refuse(named, error.message());
  if (fs::is_directory(server, error)) {
    if (auto pack = pack_around(named, server, {})) return std::move(*pack);
    server /= server_name;
    if (!fs::exists(server, error)) refuse(named, "there is no llama-server in that folder");
  }
  if (const auto why = why_no_program(server); !why.empty()) refuse(named, why);
  if (auto pack = pack_around(named, server.parent_path(), server)) return std::move(*pack);
  return plain_engine(server, "hip");
}

}  // namespace llamavisor::engine
