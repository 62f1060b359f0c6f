#include "gguf/whole_model.hpp"

#include "gguf/file_source.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace llamavisor::gguf {
namespace {

namespace fs = std::filesystem;

Failure invalid(std::string message) {
  return {.code = errc::invalid_model, .message = std::move(message)};
}

Failure tell_missing(const std::vector<std::string>& names, int parts) {
  constexpr std::size_t shown = 3;
  const std::vector<std::string> first(names.begin(),
                                       names.begin() + std::min<long>(shown, std::ssize(names)));
  const auto* more = names.size() > shown ? " and more" : "";
  return {
      .code = errc::model_not_found,
      .message = fmt::format("of its {} parts these are missing: {}{}; get them into its folder",
                             parts, fmt::join(first, ", "), more)};
}

/// What a part itself says that it is.
std::optional<Failure> check_number(const GgufInfo& info, int number, const SplitName& name) {
  if (std::cmp_equal(info.part, number) && std::cmp_equal(info.parts, name.parts)) return {};
  return invalid(fmt::format("{} is part {} of {}, and named otherwise", name.of_part(number),
                             info.part, info.parts));
}

/// Sizes are what strangers say: a sum may be too large for anything.
void add(std::uint64_t& sum, std::uint64_t value) {
  sum = value > std::numeric_limits<std::uint64_t>::max() - sum
            ? std::numeric_limits<std::uint64_t>::max()
            : sum + value;
}

void add(TensorSums& sums, const TensorSums& part) {
  add(sums.elements, part.elements);
  for (const auto& [type, bytes] : part.bytes_by_type)
    add(sums.bytes_by_type[type], bytes);
}

}  // namespace

Part Part::read(const fs::path& file) {
  Part part;
  try {
    FileSource source(file);
    part.header.info.file_size = source.size();
    part.header = parse_gguf(source);
  } catch (const Error& error) {
    part.trouble = error.failure();
  }
  return part;
}

WholeModel alone(const fs::path& file, Part part) {
  WholeModel whole{
      .info = std::move(part.header.info), .files = {file}, .trouble = std::move(part.trouble)};
  const auto& info = whole.info;
  if (whole.trouble || info.parts == 1) return whole;
  const auto name = parse_split_name(file.filename().string());
  const SplitName right{.stem = name ? name->stem : "NAME", .parts = static_cast<int>(info.parts)};
  whole.trouble =
      invalid(fmt::format("it is part {} of {}: load the first part, which must be named {}",
                          info.part, info.parts, right.of_part(1)));
  return whole;
}

WholeModel join_parts(const fs::path& folder, const SplitName& name, std::map<int, Part> parts) {
  WholeModel whole;
  TensorSums tensors;
  std::uint64_t size = 0, tensor_count = 0;
  std::optional<std::uint64_t> file_type;
  for (int number = 1; number <= name.parts && whole.missing.size() < max_missing; ++number) {
    const auto found = parts.find(number);
    if (found == parts.end()) {
      whole.missing.push_back(name.of_part(number));
      continue;
    }
    auto& [header, trouble] = found->second;
    whole.files.push_back(folder / name.of_part(number));
    if (trouble) {
      trouble->message = fmt::format("{}: {}", name.of_part(number), trouble->message);
    } else {
      trouble = check_number(header.info, number, name);
    }
    if (!whole.trouble) whole.trouble = std::move(trouble);
    add(size, header.info.file_size);
    add(tensor_count, header.info.tensor_count);
    add(tensors, header.tensors);
    if (number > 1) continue;
    file_type = header.file_type;
    whole.info = std::move(header.info);
  }
  whole.info.parts = static_cast<std::uint32_t>(name.parts);
  whole.info.file_size = size;
  whole.info.tensor_count = tensor_count;
  whole.info.parameters = tensors.elements;
  whole.info.quantisation = quantisation(tensors, file_type);
  if (!whole.trouble && !whole.missing.empty()) {
    whole.trouble = tell_missing(whole.missing, name.parts);
  }
  return whole;
}

WholeModel read_whole_model(const fs::path& file) {
  auto first = Part::read(file);
  const auto name = parse_split_name(file.filename().string());
  const auto& info = first.header.info;
  if (first.trouble || !name || info.parts == 1 || info.part != 1) {
    return alone(file, std::move(first));
  }
  const auto folder = file.parent_path();
  std::map<int, Part> parts;
  std::size_t missing = 0;
  for (int number = 1; number <= name->parts && missing < max_missing; ++number) {
    if (number == name->part) continue;
    const auto other = folder / name->of_part(number);
    std::error_code error;
    if (!fs::exists(other, error)) {
      ++missing;
      continue;
    }
    parts[number] = Part::read(other);
    parts[number].header.info.chat_template = {};  // of as many megabytes as a stranger likes
  }
  parts[name->part] = std::move(first);
  return join_parts(folder, *name, std::move(parts));
}

}  // namespace llamavisor::gguf
