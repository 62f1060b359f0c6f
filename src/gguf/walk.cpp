#include "gguf/walk.hpp"

#include <llamavisor/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <set>
#include <system_error>
#include <utility>

namespace llamavisor::gguf {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_notices = 100;

bool is_gguf_name(const fs::path& file) {
  auto extension = file.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return extension == ".gguf";
}

class Walker {
 public:
  explicit Walker(const ModelSearch& limits) : limits_(limits) {}

  Walk run(const fs::path& folder) {
    folders_.push_back({folder, 0});
    while (!folders_.empty() || !links_.empty()) {
      // Folders before links to them: what lies in both is found under its own name.
      auto& next = folders_.empty() ? links_ : folders_;
      const auto [path, depth] = std::move(next.front());
      next.pop_front();
      if (const auto error = look_into(path, depth)) {
        if (depth == 0) {
          throw Error(errc::model_not_found,
                      fmt::format("{} cannot be looked into: {}", path.string(), error.message()));
        }
        tell(fmt::format("{}: {}", path.string(), error.message()));
      }
      if (full_) break;
    }
    std::sort(found_.files.begin(), found_.files.end());
    return std::move(found_);
  }

 private:
  struct Folder {
    fs::path path;
    int depth;
  };

  std::error_code look_into(const fs::path& folder, int depth) {
    std::error_code error;
    const auto own_name = fs::canonical(folder, error);
    if (error || !seen_.insert(own_name).second) return error;
    std::vector<fs::directory_entry> entries;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
      if (++looked_at_ > limits_.max_entries) {
        full_ = true;
        tell(fmt::format(
            "more than {} names: the rest was not looked at; name a folder further down",
            limits_.max_entries));
        break;
      }
      entries.push_back(*at);
    }
    std::sort(entries.begin(), entries.end());
    for (const auto& entry : entries)
      add(entry, depth);
    return error;
  }

  void add(const fs::directory_entry& entry, int depth) {
    std::error_code error;
    if (!entry.is_directory(error)) {
      if (!is_gguf_name(entry.path())) return;
      found_.files.push_back(entry.path());
    } else if (depth < limits_.depth) {
      (entry.is_symlink(error) ? links_ : folders_).push_back({entry.path(), depth + 1});
    } else if (!std::exchange(told_depth_, true)) {
      tell(fmt::format("folders more than {} levels down were not looked into: {}", limits_.depth,
                       entry.path().string()));
    }
  }

  void tell(std::string notice) {
    if (found_.notices.size() < max_notices) found_.notices.push_back(std::move(notice));
  }

  const ModelSearch& limits_;
  Walk found_;
  std::deque<Folder> folders_;
  std::deque<Folder> links_;
  std::set<fs::path> seen_;
  std::size_t looked_at_ = 0;
  bool full_ = false;
  bool told_depth_ = false;
};

}  // namespace

Walk walk(const fs::path& folder, const ModelSearch& limits) {
  return Walker(limits).run(folder);
}

}  // namespace llamavisor::gguf
