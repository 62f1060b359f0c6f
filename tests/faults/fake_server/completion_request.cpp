#include "completion_request.hpp"

#include "tokenizer.hpp"

#include <boost/json.hpp>

#include <random>

namespace fake {
namespace {

namespace json = boost::json;

int to_id(const json::value& value) {
  const auto id = value.to_number<int>();
  if (!is_token(id)) throw Refused(400, "Prompt contains invalid tokens");
  return id;
}

bool is_list_of_numbers(const json::value& value) {
  if (!value.is_array() || value.get_array().empty()) return false;
  for (const auto& item : value.get_array()) {
    if (!item.is_number()) return false;
  }
  return true;
}

/// Text, ids, or a mixture of both; only a leading text gets the BOS token.
std::vector<int> to_prompt(const json::value& value) {
  if (value.is_string()) return tokenize(value.get_string(), true, true);
  if (const auto* object = value.if_object(); object && object->contains("prompt_string")) {
    return to_prompt(object->at("prompt_string"));
  }
  if (!value.is_array()) {
    throw Refused(400,
                  "\"prompt\" elements must be a string, a list of tokens, a JSON object "
                  "containing a prompt string, or a list of mixed strings & tokens.");
  }
  std::vector<int> ids;
  for (const auto& item : value.get_array()) {
    if (!item.is_string()) {
      ids.push_back(to_id(item));
      continue;
    }
    for (const int id : tokenize(item.get_string(), ids.empty(), true))
      ids.push_back(id);
  }
  return ids;
}

/// An array whose items are prompts of their own: texts alone, or arrays.
bool is_many(const json::value& value) {
  if (!value.is_array() || value.get_array().empty() || is_list_of_numbers(value)) return false;
  bool any_number = false;
  for (const auto& item : value.get_array())
    any_number = any_number || item.is_number();
  return !any_number;
}

void read_prompts(CompletionRequest& request, const json::value& value) {
  request.many = is_many(value);
  if (request.many) {
    for (const auto& item : value.get_array())
      request.prompts.push_back(to_prompt(item));
  } else {
    request.prompts.push_back(to_prompt(value));
  }
  for (const auto& prompt : request.prompts) {
    if (prompt.empty()) throw Refused(400, "\"prompt\" must not be empty");
  }
}

void read_bias(Sampling& sampling, const json::value& value) {
  for (const auto& item : value.as_array()) {
    const auto& pair = item.as_array();
    const auto& bias = pair.at(1);
    sampling.bias[pair.at(0).to_number<int>()] = bias.is_bool() ? -1e6 : bias.to_number<double>();
  }
}

void read_stops(CompletionRequest& request, const json::value& value) {
  if (value.is_string()) request.stops.emplace_back(value.get_string());
  if (!value.is_array()) return;
  for (const auto& item : value.get_array()) {
    if (!item.as_string().empty()) request.stops.emplace_back(item.get_string());
  }
}

class Reader {
 public:
  explicit Reader(const json::object& object) : object_(object) {}

  void operator()(std::string_view key, bool& into) const {
    if (const auto* value = find(key)) into = value->as_bool();
  }

  template <typename Number>
  void operator()(std::string_view key, Number& into) const {
    const auto* value = find(key);
    if (!value) return;
    if (!value->is_number()) {
      throw Refused(400, "Field '" + std::string(key) +
                             "': [json.exception.type_error.302] type must be number, but is " +
                             (value->is_string() ? "string" : "another"));
    }
    into = value->to_number<Number>();
  }

  const json::value* find(std::string_view key) const {
    const auto* value = object_.if_contains(key);
    return value && !value->is_null() ? value : nullptr;
  }

 private:
  const json::object& object_;
};

json::object parse_object(std::string_view body, bool old_dialect) {
  json::error_code error;
  auto value = json::parse(body, error);
  if (error) {
    throw Refused(
        old_dialect ? 500 : 400,
        "[json.exception.parse_error.101] parse error at line 1, column 1: " + error.message(),
        old_dialect ? "server_error" : "invalid_request_error");
  }
  if (!value.is_object()) {
    throw Refused(400, "[json.exception.type_error.304] cannot use at() with array");
  }
  return value.as_object();
}

void check(const CompletionRequest& request) {
  if (request.n_predict < -1) {
    throw Refused(400,
                  "Field 'n_predict': Value must be between -1 <= value <= 2147483647, "
                  "but got " +
                      std::to_string(request.n_predict));
  }
  if (!request.grammar.empty() && request.sampling.ignore_eos) {
    throw Refused(500, "got exception: Unexpected empty grammar stack after accepting piece",
                  "server_error");
  }
}

void read_members(CompletionRequest& request, const json::object& object) {
  const Reader read(object);
  read("n_predict", request.n_predict);
  read("max_tokens", request.n_predict);
  read("stream", request.stream);
  read("return_tokens", request.return_tokens);
  read("return_progress", request.return_progress);
  read("timings_per_token", request.timings_per_token);
  read("cache_prompt", request.cache_prompt);
  read("post_sampling_probs", request.post_sampling_probs);
  read("id_slot", request.id_slot);
  read("n_probs", request.n_probs);
  read("top_k", request.top_k);
  read("temperature", request.sampling.temperature);
  read("ignore_eos", request.sampling.ignore_eos);
  if (const auto* seed = read.find("seed")) {
    const auto number = seed->to_number<std::int64_t>();
    request.random_seed = number == -1 || number == 4294967295;
    request.sampling.seed = static_cast<std::uint32_t>(number);
  }
  if (request.random_seed) request.sampling.seed = std::random_device()();
  if (const auto* bias = read.find("logit_bias")) read_bias(request.sampling, *bias);
  if (const auto* stop = read.find("stop")) read_stops(request, *stop);
  if (const auto* text = read.find("grammar")) request.grammar = text->as_string();
}

}  // namespace

CompletionRequest parse_completion_request(std::string_view body, const Script& script) {
  const auto object = parse_object(body, script.old_dialect);
  const auto* prompt = object.if_contains("prompt");
  if (!prompt) throw Refused(400, "[json.exception.out_of_range.403] key 'prompt' not found");
  CompletionRequest request;
  try {
    read_prompts(request, *prompt);
    read_members(request, object);
  } catch (const Refused&) {
    throw;
  } catch (const std::exception& error) {
    throw Refused(400, error.what());
  }
  check(request);
  return request;
}

}  // namespace fake
