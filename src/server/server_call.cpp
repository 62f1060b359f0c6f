#include "server/server_call.hpp"

#include "server/json.hpp"

#include <algorithm>

namespace llamavisor::server {

namespace json = boost::json;

namespace {

ServerCall post(std::string_view target, const json::object& body) {
  return {.method = "POST", .target = std::string(target), .body = json::serialize(body)};
}

const json::value& member(const json::value& value, std::string_view key) {
  const auto* found = find(value, key);
  if (!found) throw_protocol_error(fmt::format("no \"{}\" in it", key));
  return *found;
}

std::string string_member(std::string_view body, std::string_view key) {
  const auto value = parse_json(body);
  const auto* text = member(value, key).if_string();
  if (!text) throw_protocol_error(fmt::format("\"{}\" is no string", key));
  return std::string(*text);
}

}  // namespace

ServerCall ask_health() {
  return {.target = "/health"};
}
ServerCall ask_properties() {
  return {.target = "/props"};
}
ServerCall ask_adapters() {
  return {.target = "/lora-adapters"};
}
ServerCall ask_slots() {
  return {.target = "/slots"};
}

ServerCall ask_tokenize(std::string_view text, bool add_special, bool parse_special) {
  return post("/tokenize", {{"content", json::string(text)},
                            {"add_special", add_special},
                            {"parse_special", parse_special}});
}

ServerCall ask_detokenize(std::span<const TokenId> ids) {
  return post("/detokenize", {{"tokens", json::array(ids.begin(), ids.end())}});
}

ServerCall ask_apply_template(std::span<const Message> messages) {
  json::array turns;
  for (const auto& message : messages) {
    turns.push_back(json::object{{"role", message.role}, {"content", message.content}});
  }
  return post("/apply-template", {{"messages", std::move(turns)}});
}

Properties parse_properties(std::string_view body) {
  const auto value = parse_json(body);
  Properties properties;
  properties.alias = text_or(find(value, "model_alias"), "");
  properties.slots = int_or(find(value, "total_slots"), 0);
  if (const auto* defaults = find(value, "default_generation_settings")) {
    properties.context_length = int_or(find(*defaults, "n_ctx"), 0);
  }
  properties.build_info = text_or(find(value, "build_info"), "");
  properties.chat_template = text_or(find(value, "chat_template"), "");
  properties.bos_text = text_or(find(value, "bos_token"), "");
  return properties;
}

std::vector<TokenId> parse_tokens(std::string_view body) {
  const auto value = parse_json(body);
  const auto* tokens = member(value, "tokens").if_array();
  if (!tokens) throw_protocol_error("\"tokens\" is no array");
  std::vector<TokenId> ids;
  ids.reserve(tokens->size());
  for (const auto& token : *tokens) {
    const auto id = int_or(&token, -1);
    if (id < 0) throw_protocol_error("a token that is no id");
    ids.push_back(id);
  }
  return ids;
}

std::string parse_content(std::string_view body) {
  return string_member(body, "content");
}
std::string parse_prompt(std::string_view body) {
  return string_member(body, "prompt");
}

ServerError parse_error(int status, std::string_view body) {
  ServerError error{.code = status};
  json::error_code parse_failure;
  const auto value = json::parse(body, parse_failure);
  const auto* inner = parse_failure ? nullptr : find(value, "error");
  if (!parse_failure && !inner && value.is_object()) inner = &value;
  if (!inner) {
    error.message = std::string(body.substr(0, std::min(body.find('\n'), std::size_t{500})));
    return error;
  }
  error.code = int_or(find(*inner, "code"), status);
  error.type = text_or(find(*inner, "type"), "");
  error.message = text_or(find(*inner, "message"), text_or(inner, ""));
  error.prompt_tokens = int_or(find(*inner, "n_prompt_tokens"), 0);
  error.context_length = int_or(find(*inner, "n_ctx"), 0);
  return error;
}

Failure to_failure(const ServerError& error, Phase phase) {
  Failure failure{.code = errc::server_error, .phase = phase, .http_status = error.code};
  failure.server_message = error.message;
  if (error.type == "exceed_context_size_error") {
    failure.code = errc::context_exceeded;
    failure.message = fmt::format(
        "the prompt has {} tokens, the context {}: shorten it, or load the model with a larger "
        "LoadOptions::context_length",
        error.prompt_tokens, error.context_length);
    return failure;
  }
  failure.message =
      fmt::format("llama-server answered {}: {}", error.code,
                  error.message.empty() ? "(no message)" : std::string_view(error.message));
  return failure;
}

}  // namespace llamavisor::server
