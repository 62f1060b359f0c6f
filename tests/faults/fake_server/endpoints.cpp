#include "endpoints.hpp"

#include "completion.hpp"
#include "json_text.hpp"
#include "settings_json.hpp"
#include "tokenizer.hpp"

#include <boost/json.hpp>

#include <functional>
#include <map>
#include <thread>

namespace fake {
namespace {

namespace json = boost::json;

constexpr std::string_view chat_template =
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + "
    "message['content'] + '<|im_end|>' + '\\n' }}{% endfor %}{% if add_generation_prompt %}"
    "{{ '<|im_start|>assistant\\n' }}{% endif %}";

json::object parse(const Server& server, const Request& request) {
  json::error_code error;
  const auto value = json::parse(request.body, error);
  if (error || !value.is_object()) {
    throw Refused(server.script.old_dialect ? 500 : 400,
                  "[json.exception.parse_error.101] parse error at line 1, column 1: syntax error",
                  server.script.old_dialect ? "server_error" : "invalid_request_error");
  }
  return value.get_object();
}

bool flag(const json::object& object, std::string_view key, bool otherwise) {
  const auto* value = object.if_contains(key);
  return value && value->is_bool() ? value->get_bool() : otherwise;
}

std::string text(const json::object& object, std::string_view key) {
  const auto* value = object.if_contains(key);
  return value && value->is_string() ? std::string(value->get_string()) : "";
}

std::string health(Server& server) {
  std::this_thread::sleep_for(std::chrono::milliseconds(server.script.health_delay_ms));
  return R"({"status":"ok"})";
}

/// What passes through the compute loop is not answered while that is frozen; nor, but for a few
/// things, while it is in a decode.
void wait_for_compute_loop(Server& server, const Connection& connection, bool decodes = false) {
  server.wait_for_loop(decodes, [&] {
    if (connection.gone()) throw Gone();
  });
}

std::string adapters(Server& server, const Connection& connection) {
  if (!server.script.adapters_at_once) wait_for_compute_loop(server, connection, true);
  return "[]";
}

std::string props(Server& server, const Connection& connection) {
  wait_for_compute_loop(server, connection);
  std::string out =
      "{\"default_generation_settings\":{\"params\":" + short_settings_json(CompletionRequest{}) +
      ",\"n_ctx\":" + std::to_string(server.context()) + "}";
  out += ",\"total_slots\":" + std::to_string(server.arguments.slots);
  out += ",\"model_alias\":" + json_string(server.alias());
  out += R"(,"model_ftype":"all F32","model_path":)" + json_string(server.arguments.model);
  out += R"(,"modalities":{"vision":false,"video":false,"audio":false})";
  out += R"(,"media_marker":"<__media__>","endpoint_slots":)";
  out += server.arguments.slots_endpoint ? "true" : "false";
  out += R"(,"endpoint_props":false,"endpoint_metrics":false,"ui":false,"ui_settings":{})";
  out += ",\"chat_template\":" + json_string(chat_template);
  out += R"(,"chat_template_caps":{"supports_object_arguments":false,)"
         R"("supports_parallel_tool_calls":false,"supports_preserve_reasoning":false,)"
         R"("supports_reasoning_effort":false,"supports_string_content":true,)"
         R"("supports_system_role":true,"supports_tool_calls":false,"supports_tools":false,)"
         R"("supports_typed_content":false})";
  out += R"(,"bos_token":"<|startoftext|>","eos_token":"<|endoftext|>")";
  out += R"(,"build_info":"b11669-fake","is_sleeping":false,"cors_proxy_enabled":false})";
  return out;
}

std::string slot_json(const Server& server, const Slots::State& state, int id) {
  std::string out = "{\"id\":" + std::to_string(id);
  out += ",\"n_ctx\":" + std::to_string(server.context()) + ",\"speculative\":false";
  out += std::string(",\"is_processing\":") + (state.busy ? "true" : "false");
  if (!state.used) return out + "}";
  out += ",\"id_task\":" + std::to_string(state.task);
  out += ",\"n_prompt_tokens\":" + std::to_string(state.prompt + state.predicted);
  out += ",\"n_prompt_tokens_processed\":" + std::to_string(state.processed);
  out += ",\"n_prompt_tokens_cache\":" + std::to_string(state.cached);
  out += ",\"params\":" + short_settings_json(CompletionRequest{});
  out += R"(,"next_token":[{"has_next_token":true,"has_new_line":false,"n_remain":-1,)";
  return out + "\"n_decoded\":" + std::to_string(state.predicted) + "}]}";
}

std::string slots(Server& server, const Connection& connection) {
  while (server.script.slots_silent && !connection.gone())
    Server::pause_briefly();
  wait_for_compute_loop(server, connection);
  std::string out = "[";
  int id = 0;
  for (const auto& state : server.slots.states()) {
    if (id > 0) out.push_back(',');
    out += slot_json(server, state, id++);
  }
  return out + "]";
}

std::string tokenize_answer(const Server& server, const Request& request) {
  const auto object = parse(server, request);
  const auto ids = tokenize(text(object, "content"), flag(object, "add_special", false),
                            flag(object, "parse_special", true));
  const bool with_pieces = flag(object, "with_pieces", false);
  std::string out = "{\"tokens\":[";
  for (const int id : ids) {
    if (out.back() != '[') out.push_back(',');
    if (!with_pieces) {
      out += std::to_string(id);
      continue;
    }
    const bool is_text = id < 128 || id > 255;
    out += "{\"id\":" + std::to_string(id) + ",\"piece\":";
    out += is_text ? json_string(piece(id)) : "[" + std::to_string(id) + "]";
    out.push_back('}');
  }
  return out + "]}";
}

std::string detokenize_answer(const Server& server, const Request& request) {
  const auto object = parse(server, request);
  std::vector<int> ids;
  if (const auto* tokens = object.if_contains("tokens"); tokens && tokens->is_array()) {
    for (const auto& id : tokens->get_array())
      ids.push_back(id.to_number<int>());
  }
  return "{\"content\":" + json_string(detokenize(ids)) + "}";
}

std::string apply_template(const Server& server, const Request& request) {
  const auto object = parse(server, request);
  const auto* messages = object.if_contains("messages");
  if (!messages) throw Refused(400, "'messages' is required");
  if (!messages->is_array()) throw Refused(400, "Expected 'messages' to be an array");
  std::string prompt;
  const auto& list = messages->get_array();
  for (std::size_t at = 0; at < list.size(); ++at) {
    if (!list[at].is_object()) throw Refused(400, "Expected 'messages' to hold objects");
    const auto& message = list[at].get_object();
    prompt += "<|im_start|>" + text(message, "role") + "\n" + text(message, "content");
    // A last message of the assistant is gone on with.
    if (at + 1 == list.size() && text(message, "role") == "assistant") {
      return "{\"prompt\":" + json_string(prompt) + "}";
    }
    prompt += "<|im_end|>\n";
  }
  return "{\"prompt\":" + json_string(prompt + "<|im_start|>assistant\n") + "}";
}

std::string not_supported(const std::string& what, const std::string& flag_name) {
  throw Refused(501, "This server does not support " + what + ". Start it with `" + flag_name + "`",
                "not_supported_error");
}

}  // namespace

void answer_endpoint(Server& server, Connection& connection, const Request& request) {
  const auto& path = request.path;
  const auto method_and_path = request.method + " " + path;
  if (method_and_path == "POST /completion" || method_and_path == "POST /completions") {
    return answer_completion(server, connection, request);
  }
  if (path != "/health") server.story.tell("request", {{"path", path}, {"authorized", true}});

  const std::map<std::string, std::function<std::string()>> endpoints{
      {"GET /health", [&] { return health(server); }},
      {"GET /v1/health", [&] { return health(server); }},
      {"GET /props", [&] { return props(server, connection); }},
      {"GET /slots", [&] { return slots(server, connection); }},
      {"POST /tokenize", [&] { return tokenize_answer(server, request); }},
      {"POST /detokenize", [&] { return detokenize_answer(server, request); }},
      {"POST /apply-template", [&] { return apply_template(server, request); }},
      {"GET /lora-adapters", [&] { return adapters(server, connection); }},
      {"GET /metrics", [] { return not_supported("metrics endpoint", "--metrics"); }},
      {"POST /v1/embeddings", [] { return not_supported("embeddings", "--embeddings"); }},
  };
  const auto endpoint = endpoints.find(method_and_path);
  if (endpoint == endpoints.end()) {
    return connection.answer(404, outer_error_body(404, "File Not Found", "not_found_error"));
  }
  try {
    connection.answer(200, endpoint->second());
  } catch (const Refused& refused) {
    connection.answer(refused.status,
                      error_body(refused.status, refused.what(), refused.type, refused.more));
  }
}

}  // namespace fake
