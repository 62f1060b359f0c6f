#include "supervisor/model_file.hpp"

namespace llamavisor::supervisor {

std::shared_ptr<const ModelFile> ModelFile::read(const std::filesystem::path& file) {
  auto read = std::make_shared<ModelFile>();
  // Its identity first: one that is replaced in between is found out before the spawn.
  read->identity = FileIdentity::of(file);
  try {
    read->facts = read_gguf(file);
  } catch (const Error& error) {
    read->failure = error.failure();
  }
  return read;
}

}  // namespace llamavisor::supervisor
