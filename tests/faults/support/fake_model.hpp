// A model file that is valid and means nothing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace llamavisor::testing {

struct FakeModel {
  std::string architecture = "llama";
  std::string name = "nonsense";
  std::uint32_t context_length = 131072;
  std::string chat_template =
      "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + "
      "message['content'] + '<|im_end|>' + '\\n' }}{% endfor %}{% if add_generation_prompt %}"
      "{{ '<|im_start|>assistant\\n' }}{% endif %}";  ///< empty = none
};

/// The bytes of a GGUF file, version 3: all keys that a header reader asks for, the fake's
/// vocabulary of 1004 tokens, and one small tensor.
std::string gguf_bytes(const FakeModel& model = {});

/// Writes one; the path is given back.
std::filesystem::path write_fake_model(const std::filesystem::path& file,
                                       const FakeModel& model = {});

}  // namespace llamavisor::testing
