/// \file
/// Figures, as text for a person.
#pragma once

#include <llamavisor/text_model.hpp>

#include <string>

namespace llamavisor::chat {

class Conversation;

/// "42 tokens, 35.1 tokens/s, first token after 80 ms, on cpu (build 11669)".
std::string answer_line(const GenerateResult& result);

/// "tiny.gguf: llama, F32, 0.1 M parameters", as far as the file says.
std::string model_line(const ModelInfo& info);

/// Several lines, each with its end.
std::string statistics(const Conversation& conversation);

}  // namespace llamavisor::chat
