// A llama-server as anyone would start it, asked by plain HTTP: what the library is held against.
#pragma once

#include <llamavisor/token_stream.hpp>

#include "temporary_folder.hpp"

#include <sys/types.h>

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace llamavisor::contract {

struct StockAnswer {
  std::string text{};
  std::vector<TokenId> ids{};  ///< all of them; of a stream, those that it named
  int prompt_tokens = 0;
  std::string stop_type{};
};

class StockServer {
 public:
  explicit StockServer(const std::filesystem::path& model);
  ~StockServer();
  StockServer(const StockServer&) = delete;
  StockServer& operator=(const StockServer&) = delete;

  /// At temperature 0, without the slot's cache.
  StockAnswer complete(std::string_view prompt, int max_tokens) const;
  StockAnswer complete(std::span<const TokenId> prompt, int max_tokens) const;
  StockAnswer stream(std::span<const TokenId> prompt, int max_tokens) const;

  /// /v1/chat/completions, one message of the user.
  StockAnswer chat(std::string_view message, int max_tokens) const;

  std::vector<TokenId> tokenize(std::string_view text, bool add_special, bool parse_special) const;
  std::string detokenize(std::span<const TokenId> ids) const;
  std::string apply_template(std::string_view message) const;

  /// The best next tokens, with log-probabilities over the whole vocabulary. `steered` is made the
  /// next token, since a server tells nothing of one that is only part of a character; its
  /// log-probabilities are those from before.
  std::vector<TokenLogprob> best(std::span<const TokenId> prompt, int count, TokenId steered) const;

 private:
  std::string post(std::string_view target, const std::string& body) const;

  test::TemporaryFolder folder_;
  std::string socket_;
  pid_t process_ = -1;
};

}  // namespace llamavisor::contract
