#include <llamavisor/model_files.hpp>

#include "gguf/walk.hpp"
#include "gguf/whole_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

namespace llamavisor {
namespace {

namespace fs = std::filesystem;

/// Bytes of a name that are kept: a file may have 64 KiB of them, and a folder thousands of files.
constexpr std::size_t max_name = 256;

/// Cut between two characters.
std::string shorten(std::string text) {
  if (text.size() <= max_name) return text;
  auto end = max_name;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80)
    --end;
  return text.substr(0, end);
}

/// A file, without the large texts of its header.
struct File {
  gguf::Part part{};
  bool has_chat_template = false;

  static File read(const fs::path& path) {
    File file{.part = gguf::Part::read(path)};
    auto& info = file.part.header.info;
    file.has_chat_template = !std::exchange(info.chat_template, {}).empty();
    info.name = shorten(std::move(info.name));
    info.size_label = shorten(std::move(info.size_label));
    return file;
  }

  bool is_part_of(const gguf::SplitName& name) const {
    // Where there is no header, the name is all there is to go by.
    return name.parts > 1 && (part.trouble || part.header.info.parts > 1);
  }
};

/// The parts of one model.
struct Split {
  std::map<int, gguf::Part> parts{};
  bool has_chat_template = false;
};

FoundModel describe(gguf::WholeModel whole, bool has_chat_template) {
  auto& info = whole.info;
  FoundModel model{.path = std::move(whole.files.front()),
                   .kind = info.kind,
                   .name = std::move(info.name),
                   .architecture = std::move(info.architecture),
                   .size_label = std::move(info.size_label),
                   .parameters = info.parameters,
                   .quantisation = std::move(info.quantisation),
                   .size = info.file_size,
                   .context_length = info.context_length,
                   .has_chat_template = has_chat_template,
                   .parts = static_cast<int>(info.parts),
                   .missing_parts = std::move(whole.missing)};
  if (whole.trouble) model.reason = std::move(whole.trouble->message);
  return model;
}

}  // namespace

FoundModels discover_models(const fs::path& folder, const ModelSearch& limits) {
  auto walk = gguf::walk(folder, limits);
  FoundModels found{.notices = std::move(walk.notices)};
  if (walk.files.size() > limits.max_files) {
    walk.files.resize(limits.max_files);
    found.notices.push_back(
        fmt::format("more than {} GGUF files: the rest was not read; name a folder further down",
                    limits.max_files));
  }
  std::map<std::tuple<fs::path, std::string, int>, Split> splits;
  for (const auto& path : walk.files) {
    auto file = File::read(path);
    const auto name = gguf::parse_split_name(path.filename().string());
    if (name && file.is_part_of(*name)) {
      auto& split = splits[{path.parent_path(), name->stem, name->parts}];
      split.has_chat_template |= file.has_chat_template;
      split.parts.emplace(name->part, std::move(file.part));
    } else {
      found.list.push_back(
          describe(gguf::alone(path, std::move(file.part)), file.has_chat_template));
    }
  }
  for (auto& [where, split] : splits) {
    const auto& [parent, stem, parts] = where;
    auto whole = gguf::join_parts(parent, {.stem = stem, .parts = parts}, std::move(split.parts));
    found.list.push_back(describe(std::move(whole), split.has_chat_template));
  }
  std::sort(found.list.begin(), found.list.end(),
            [](const FoundModel& a, const FoundModel& b) { return a.path < b.path; });
  return found;
}

}  // namespace llamavisor
