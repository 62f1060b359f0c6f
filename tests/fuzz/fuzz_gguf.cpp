// Any bytes are a model or an `invalid_model`, and nothing else.
#include <llamavisor/error.hpp>

#include "gguf/memory_source.hpp"
#include "gguf/parse.hpp"
#include "pieces.hpp"

using namespace llamavisor;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  gguf::MemorySource source({reinterpret_cast<const char*>(data), size});
  try {
    const auto info = gguf::parse_gguf(source).info;
    fuzz::require(info.version == 2 || info.version == 3);
    fuzz::require(info.file_size == size);
    // An entry in the list of tensors takes 24 bytes, a token 8.
    fuzz::require(info.tensor_count <= size / 24);
    fuzz::require(info.chat_template.size() < size);
    fuzz::require(info.part >= 1 && info.part <= info.parts && info.parts <= 99'999);
    fuzz::require(info.kind <= ModelKind::other);
  } catch (const Error& error) {
    fuzz::require(error.code() == errc::invalid_model);
    fuzz::require(error.what()[0] != '\0');
  }
  return 0;
}
