// Answers a prompt builder's questions as a server would: a byte tokenizer with a few control
// tokens, and a chat template in the manner of ChatML.
#pragma once

#include <llamavisor/text_model.hpp>

#include "model/prompt_builder.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace llamavisor::model::test {

struct FakeTokenizer {
  using Ids = std::vector<TokenId>;

  static constexpr TokenId bos = 1;
  static constexpr TokenId space_mark = 2;  // SentencePiece's "▁"
  static constexpr TokenId merged = 3;      // "\nx", of a tokenizer that merges newlines
  static constexpr TokenId im_start = 900;
  static constexpr TokenId im_end = 901;
  static constexpr TokenId control_tab = 902;

  bool adds_bos = false;
  bool space_prefix = false;    // as SentencePiece: also after each control token
  bool merges_newline = false;  // "\nx" is one token
  std::function<std::string(const Message&)> content = [](const Message& message) {
    return message.content;
  };

  int questions = 0;                    // all
  std::vector<std::string> contents{};  // of the tokenize questions, in order

  Ids tokenize(std::string_view text, bool add_special, bool parse_special) const;
  std::string render(const std::vector<Message>& messages) const;

  /// The body with which a server answers.
  std::string answer(const server::ServerCall& question);

  /// Answers all questions of a builder, and returns its ids.
  Ids run(PromptBuilder& builder);
};

/// The ids of plain bytes.
FakeTokenizer::Ids bytes(std::string_view text);

}  // namespace llamavisor::model::test
