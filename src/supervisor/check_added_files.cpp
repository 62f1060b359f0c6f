#include "supervisor/check_added_files.hpp"

#include <llamavisor/error.hpp>

#include "server/adapter_arguments.hpp"

#include <fmt/format.h>

namespace llamavisor::supervisor {

namespace {

/// The header, or an error that names the option too.
GgufInfo read_header(const std::filesystem::path& file, std::string_view option) {
  try {
    return read_gguf(file);
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("{}: {}", option, error.what()));
  }
}

[[noreturn]] void refuse(const std::filesystem::path& file, std::string_view option,
                         const std::string& why) {
  throw Error(errc::invalid_option, fmt::format("{}: {} {}", option, file.string(), why));
}

std::string_view words(ModelKind kind) {
  switch (kind) {
    case ModelKind::text: return "a text model";
    case ModelKind::projector: return "a projector";
    case ModelKind::adapter: return "an adapter";
    case ModelKind::vocabulary: return "a vocabulary";
    case ModelKind::other: break;
  }
  return "something else";
}

std::uint64_t check_adapter(const Adapter& adapter, const GgufInfo& model) {
  constexpr std::string_view option = "LoadOptions::adapters";
  const auto& file = adapter.file;
  if (!server::can_be_told(adapter)) {
    refuse(file, option,
           "has a colon in its path, at which llama-server would look for its scale: make a link "
           "to it under another name");
  }
  const auto info = read_header(file, option);
  if (info.kind != ModelKind::adapter) {
    refuse(file, option,
           fmt::format("is {}, and no adapter: convert a LoRA adapter to GGUF with llama.cpp's "
                       "convert_lora_to_gguf.py",
                       words(info.kind)));
  }
  if (info.adapter_type != "lora") {
    refuse(file, option,
           fmt::format("is an adapter of type \"{}\": llama-server takes \"lora\" only",
                       info.adapter_type));
  }
  if (info.architecture != model.architecture) {
    refuse(file, option,
           fmt::format("is for the architecture \"{}\", and the model is of \"{}\": name an "
                       "adapter that was made for this model",
                       info.architecture, model.architecture));
  }
  return info.file_size;
}

std::uint64_t check_projector(const std::filesystem::path& file) {
  constexpr std::string_view option = "LoadOptions::projector";
  const auto info = read_header(file, option);
  if (info.kind != ModelKind::projector) {
    refuse(file, option,
           fmt::format("is {}, and no projector: those are published beside their models, as "
                       "mmproj-*.gguf",
                       words(info.kind)));
  }
  return info.file_size;
}

}  // namespace

std::uint64_t check_added_files(const server::ModelPaths& paths, const GgufInfo& model) {
  std::uint64_t size = 0;
  for (const auto& adapter : paths.adapters)
    size += check_adapter(adapter, model);
  if (!paths.projector.empty()) size += check_projector(paths.projector);
  return size;
}

}  // namespace llamavisor::supervisor
