#include <llamavisor/engine.hpp>
#include <llamavisor/error.hpp>

#include "engine/pack_description.hpp"
#include "engine/path_list.hpp"
#include "engine/plain_server.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <system_error>

namespace llamavisor {
namespace {

namespace fs = std::filesystem;

std::optional<std::string> environment(const char* name) {
  const char* value = std::getenv(name);
  if (!value || !*value) return std::nullopt;
  return value;
}

bool is_pack(const fs::path& folder) {
  std::error_code error;
  return fs::exists(folder / engine::description_name, error);
}

/// Folders in a folder, by name: the order in a directory is chance.
std::vector<fs::path> folders_in(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;
    if (entry->is_directory(ignored)) found.push_back(entry->path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// Engines in the order in which they were added; a server that was seen is not added again.
class Collection {
 public:
  void add(Engine engine) {
    const bool known = std::any_of(engines_.begin(), engines_.end(), [&](const Engine& other) {
      std::error_code error;
      return other.flavour == engine.flavour &&
             fs::equivalent(other.command.back(), engine.command.back(), error);
    });
    engine.found_by = place_;
    if (!known) engines_.push_back(std::move(engine));
  }

  /// Of all that are added from now on.
  void found_by(std::string_view place) { place_ = place; }

  /// The llama-server on PATH, which may lie in a pack.
  void add_program(const fs::path& server) {
    try {
      if (is_pack(server.parent_path())) return add(read_engine(server.parent_path()));
    } catch (const Error&) {
      return;
    }
    for (auto& flavour : engine::flavours_of(server))
      add(engine::plain_engine(server, std::move(flavour)));
  }

  /// A place that nobody named: what is no usable pack there is passed over.
  void add_from(const fs::path& place) {
    for (const auto& folder : folders_in(place)) {
      if (!is_pack(folder)) continue;
      try {
        add(read_engine(folder));
      } catch (const Error&) {
      }
    }
  }

  /// A place that the user named: what cannot be used there is an error, not a reason to take
  /// another engine quietly.
  void add_named(const fs::path& place) {
    const auto inner = folders_in(place);
    if (is_pack(place) || std::none_of(inner.begin(), inner.end(), is_pack)) {
      add(read_engine(place));
      return;
    }
    for (const auto& folder : inner) {
      if (is_pack(folder)) add(read_engine(folder));
    }
  }

  std::vector<Engine> take() { return std::move(engines_); }

 private:
  std::vector<Engine> engines_;
  std::string place_;
};

std::optional<fs::path> user_data_folder() {
  // The XDG specification says that a relative path there is to be ignored.
  if (const auto data = environment("XDG_DATA_HOME"); data && fs::path(*data).is_absolute()) {
    return *data;
  }
  if (const auto home = environment("HOME")) return fs::path(*home) / ".local/share";
  return std::nullopt;
}

}  // namespace

std::vector<Engine> find_engines() {
  Collection engines;
  constexpr const char* own_path = "LLAMAVISOR_ENGINE_PATH";
  constexpr const char* rocm_path = "ROCM_LLAMA_SERVER_PATH";
  engines.found_by(own_path);
  if (const auto list = environment(own_path)) {
    for (const auto& place : engine::split_paths(*list))
      engines.add_named(place);
  }
  engines.found_by(rocm_path);
  if (const auto named = environment(rocm_path)) engines.add(engine::read_rocm_server(*named));
  engines.found_by("prefix");
  engines.add_from(fs::path(LLAMAVISOR_PREFIX) / "lib/llamavisor");
  engines.found_by("user");
  if (const auto data = user_data_folder()) engines.add_from(*data / "llamavisor/engines");
  engines.found_by("PATH");
  if (const auto path = environment("PATH")) {
    if (const auto server = engine::server_on_path(*path)) engines.add_program(*server);
  }
  return engines.take();
}

}  // namespace llamavisor
