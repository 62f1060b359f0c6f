#include <llamavisor/error.hpp>
#include <llamavisor/gguf.hpp>

#include "gguf/file_source.hpp"
#include "gguf/parse.hpp"

namespace llamavisor {

GgufInfo read_gguf(const std::filesystem::path& file) {
  try {
    gguf::FileSource source(file);
    return gguf::parse_gguf(source).info;
  } catch (const Error& error) {
    throw Error(error.code(), file.string() + ": " + error.what());
  }
}

}  // namespace llamavisor
