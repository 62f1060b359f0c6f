#include "model_file.hpp"

#include <fstream>

namespace fake {

std::string model_fault(const std::string& name) {
  std::ifstream file(name, std::ios::binary);
  if (!file) {
    return "gguf_init_from_file: failed to open GGUF file '" + name +
           "' (No such file or directory)";
  }
  char magic[4] = {};
  if (!file.read(magic, sizeof magic)) return "gguf_init_from_reader: failed to read magic";
  if (std::string(magic, sizeof magic) != "GGUF") {
    return "gguf_init_from_reader: invalid magic characters: '" + std::string(magic, sizeof magic) +
           "', expected 'GGUF'";
  }
  return "";
}

}  // namespace fake
