#include <llamavisor/engine.hpp>
#include <llamavisor/error.hpp>

#include "engine/pack_description.hpp"

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

/// Engines in the order in which they were added; a folder that was seen is not added again.
class Collection {
 public:
  void add(const fs::path& folder) {
    auto engine = read_engine(folder);
    const bool known = std::any_of(engines_.begin(), engines_.end(), [&](const Engine& other) {
      std::error_code error;
      return fs::equivalent(other.folder, engine.folder, error);
    });
    if (!known) engines_.push_back(std::move(engine));
  }

  /// A place that nobody named: what is no usable pack there is passed over.
  void add_from(const fs::path& place) {
    for (const auto& folder : folders_in(place)) {
      if (!is_pack(folder)) continue;
      try {
        add(folder);
      } catch (const Error&) {
      }
    }
  }

  /// A place that the user named: what cannot be used there is an error, not a reason to take
  /// another engine quietly.
  void add_named(const fs::path& place) {
    const auto inner = folders_in(place);
    if (is_pack(place) || std::none_of(inner.begin(), inner.end(), is_pack)) {
      add(place);
      return;
    }
    for (const auto& folder : inner) {
      if (is_pack(folder)) add(folder);
    }
  }

  std::vector<Engine> take() { return std::move(engines_); }

 private:
  std::vector<Engine> engines_;
};

std::vector<fs::path> split(const std::string& list) {
  std::vector<fs::path> parts;
  for (std::size_t at = 0; at <= list.size();) {
    const auto end = std::min(list.find(':', at), list.size());
    if (end > at) parts.emplace_back(list.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

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
  if (const auto list = environment("LLAMAVISOR_ENGINE_PATH")) {
    for (const auto& place : split(*list))
      engines.add_named(place);
  }
  engines.add_from(fs::path(LLAMAVISOR_PREFIX) / "lib/llamavisor");
  if (const auto data = user_data_folder()) engines.add_from(*data / "llamavisor/engines");
  return engines.take();
}

}  // namespace llamavisor
