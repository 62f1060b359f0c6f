/// \file
/// The small questions to a llama-server, and its answers: the JSON of one build and its cousins.
/// Answers are parsed strictly: what is not as expected throws `Error` (`protocol_error`).
#pragma once

#include <llamavisor/generate_options.hpp>
#include <llamavisor/text_model.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace llamavisor::server {

/// A request without its address and key.
struct ServerCall {
  std::string method{"GET"};
  std::string target{"/"};
  std::string body{};
};

ServerCall ask_health();
ServerCall ask_properties();
ServerCall ask_slots();
ServerCall ask_adapters();
ServerCall ask_tokenize(std::string_view text, bool add_special, bool parse_special);
ServerCall ask_detokenize(std::span<const TokenId> ids);
ServerCall ask_apply_template(std::span<const Message> messages);

/// Throws `Error` (`invalid_option`) that names the text and the byte where it is no UTF-8: a
/// server takes none, and its own message would not tell where.
void require_utf8(std::string_view text, std::string_view what);

/// What `/props` says.
struct Properties {
  std::string alias{};
  int slots = 0;
  int context_length = 0;  ///< of one slot
  std::string build_info{};
  std::string chat_template{};
  std::string bos_text{};
};

Properties parse_properties(std::string_view body);
std::vector<TokenId> parse_tokens(std::string_view body);  ///< of tokenize
std::string parse_content(std::string_view body);          ///< of detokenize
std::string parse_prompt(std::string_view body);           ///< of apply-template

/// An error as the server words it.
struct ServerError {
  int code = 0;
  std::string type{};  ///< "invalid_request_error", ...
  std::string message{};
  int prompt_tokens = 0;  ///< of `exceed_context_size_error`
  int context_length = 0;
};

/// The error in a body `{"error":{...}}`, in its bare inner object, or, where the body is neither,
/// its first line as the message.
ServerError parse_error(int status, std::string_view body);

/// As a failure for the caller.
Failure to_failure(const ServerError& error, Phase phase);

}  // namespace llamavisor::server
