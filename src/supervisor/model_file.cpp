#include "supervisor/model_file.hpp"

#include "gguf/whole_model.hpp"
#include "supervisor/check_added_files.hpp"

#include <fmt/format.h>

namespace llamavisor::supervisor {

namespace {

std::optional<Failure> check_kind(const GgufInfo& info) {
  const auto refusal = [](std::string message) {
    return Failure{.code = errc::invalid_model, .message = std::move(message)};
  };
  switch (info.kind) {
    case ModelKind::adapter:
      return refusal(
          "it is an adapter: load the model that it is for, with this file in "
          "LoadOptions::adapters");
    case ModelKind::projector:
      return refusal(
          "it is a projector: load the model that it is for, with this file as "
          "LoadOptions::projector");
    case ModelKind::vocabulary: return refusal("it is a vocabulary without a model");
    case ModelKind::text:
    case ModelKind::other: return std::nullopt;  // the engine may know what it is
  }
  return std::nullopt;
}

void read_model(ModelFile& read, const std::filesystem::path& path) {
  auto whole = gguf::read_whole_model(path);
  for (const auto& part : whole.files) {
    if (part != path) read.files.push_back(KnownFile::of(part));
  }
  read.facts = std::move(whole.info);
  auto trouble = whole.trouble ? std::move(whole.trouble) : check_kind(read.facts);
  if (!trouble) return;
  trouble->message = fmt::format("{}: {}", path.string(), trouble->message);
  read.failure = std::move(trouble);
}

}  // namespace

std::shared_ptr<const ModelFile> ModelFile::read(const server::ModelPaths& paths) {
  auto read = std::make_shared<ModelFile>();
  // Their identities first: one that is replaced in between is found out before the spawn.
  read->files.push_back(KnownFile::of(paths.model));
  for (const auto& adapter : paths.adapters)
    read->files.push_back(KnownFile::of(adapter.file));
  if (!paths.projector.empty()) read->files.push_back(KnownFile::of(paths.projector));
  read_model(*read, paths.model);
  if (read->failure) return read;
  try {
    read->added_size = check_added_files(paths, read->facts);
  } catch (const Error& error) {
    read->failure = error.failure();
  }
  return read;
}

}  // namespace llamavisor::supervisor
