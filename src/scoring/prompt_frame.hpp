/// \file
/// What of a format's prompts is the same for all cases of one model.
#pragma once

#include <llamavisor/decision.hpp>

#include "server/server_call.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace llamavisor::scoring {

/// Asks a server, and waits for the body of a 200. Throws `Error`.
using Ask = std::function<std::string(server::ServerCall)>;

/// The server's tokenizer, for texts that stand inside a prompt.
class Tokenizer {
 public:
  /// `space_prefix`: it puts a space before a text ("llama", SentencePiece), which must not happen
  /// there.
  Tokenizer(Ask ask, bool space_prefix) : ask_(std::move(ask)), space_prefix_(space_prefix) {}

  /// Each by itself. An empty text has no ids.
  std::vector<std::vector<TokenId>> inside(std::span<const std::string> texts,
                                           bool parse_special) const;

  /// As the stock server does with a prompt.
  std::vector<TokenId> whole(std::string_view text) const;

  const Ask& ask() const noexcept { return ask_; }

 private:
  std::vector<std::vector<TokenId>> each(std::span<const std::string> texts,
                                         bool parse_special) const;

  Ask ask_;
  bool space_prefix_;
};

/// Labels of one number of options.
struct Labels {
  std::vector<std::string> texts{};
  std::vector<std::vector<TokenId>> ids{};
};

/// Made once for a model and a format. Any thread.
class PromptFrame {
 public:
  /// Asks for the template and its ids. Throws `Error`: `invalid_model` where the template lets no
  /// text through.
  PromptFrame(PromptFormat format, Tokenizer tokenizer);

  const PromptFormat& format() const noexcept { return format_; }
  const Tokenizer& tokenizer() const noexcept { return tokenizer_; }
  const std::vector<TokenId>& before() const noexcept { return before_; }
  const std::vector<TokenId>& after() const noexcept { return after_; }

  /// What goes before the state: the system text, where the template has no place for it.
  const std::string& state_prefix() const noexcept { return state_prefix_; }

  /// One that is valid text by itself.
  TokenId text_token() const noexcept { return text_token_; }

  /// Labels for so many options; found once.
  const Labels& labels(std::size_t count);

 private:
  void read_template();
  std::optional<std::string> render(bool with_system) const;
  Labels find_labels(std::size_t count) const;

  PromptFormat format_;
  Tokenizer tokenizer_;
  std::vector<TokenId> before_;
  std::vector<TokenId> after_;
  std::string state_prefix_;
  TokenId text_token_ = 0;

  std::mutex mutex_;
  std::map<std::size_t, Labels> labels_;
};

}  // namespace llamavisor::scoring
