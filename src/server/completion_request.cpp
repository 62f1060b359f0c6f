#include "server/completion_request.hpp"

#include "server/json.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace llamavisor::server {

namespace json = boost::json;

namespace {

constexpr double option_bias = 100.0;  ///< far above any logit, far below where float loses digits

[[noreturn]] void refuse(std::string_view member, std::string_view rule) {
  throw Error(errc::invalid_option, fmt::format("GenerateOptions::{} {}", member, rule));
}

void check(bool good, std::string_view member, std::string_view rule) {
  if (!good) refuse(member, rule);
}

ServerCall completion(const json::object& body) {
  return {.method = "POST", .target = "/completion", .body = json::serialize(body)};
}

json::array to_array(std::span<const TokenId> ids) {
  return json::array(ids.begin(), ids.end());
}

/// The first (and only) generated token's probabilities; null where the server tells none.
const json::value* first_probabilities(const json::value& answer) {
  const auto* list = find(answer, "completion_probabilities");
  const auto* array = list ? list->if_array() : nullptr;
  return array && !array->empty() ? &array->front() : nullptr;
}

const json::array& array_member(const json::value& value, std::string_view key) {
  const auto* list = find(value, key);
  const auto* array = list ? list->if_array() : nullptr;
  if (!array) throw_protocol_error(fmt::format("no array \"{}\"", key));
  return *array;
}

int prompt_tokens(const json::value& answer) {
  return int_or(find(answer, "tokens_evaluated"), 0);
}

}  // namespace

void check_options(const GenerateOptions& o) {
  const auto in = [](const std::optional<double>& value, double low, double high) {
    return !value || (std::isfinite(*value) && *value >= low && *value <= high);
  };
  check(o.max_tokens >= 0, "max_tokens", "must not be negative (0 = until the context ends)");
  check(in(o.temperature, 0, 100), "temperature", "must be from 0 to 100");
  check(!o.top_k || *o.top_k >= 0, "top_k", "must not be negative (0 = off)");
  check(in(o.top_p, 0, 1) && (!o.top_p || *o.top_p > 0), "top_p", "must be in (0, 1]");
  check(in(o.min_p, 0, 1), "min_p", "must be from 0 to 1");
  check(in(o.repeat_penalty, 0, 100) && (!o.repeat_penalty || *o.repeat_penalty > 0),
        "repeat_penalty", "must be above 0 and at most 100");
  check(o.stop.size() <= 64, "stop", "takes at most 64 strings");
  for (const auto& text : o.stop) {
    require_utf8(text, "GenerateOptions::stop");
    check(!text.empty(), "stop", "must not hold an empty string");
  }
  for (const auto id : o.stop_tokens)
    check(id >= 0, "stop_tokens", "must not hold a negative id");
  check(o.logprobs >= 0 && o.logprobs <= 1000, "logprobs", "must be from 0 to 1000");
  check(o.deadline.count() >= 0, "deadline", "must not be negative (0 = none)");
  check(o.grammar.empty() || o.json_schema.empty(), "grammar",
        "and json_schema exclude each other: give one of them");
  // The stock server answers 500 to a grammar with ignore_eos: a grammar decides itself when it
  // ends.
  check(!o.ignore_eos || (o.grammar.empty() && o.json_schema.empty()), "ignore_eos",
        "does not go with a grammar or a JSON schema: these end by themselves");
  if (!o.json_schema.empty()) {
    json::error_code error;
    const auto schema = json::parse(o.json_schema, error);
    check(!error, "json_schema", fmt::format("is not JSON: {}", error.message()));
    check(schema.is_object() || schema.is_bool(), "json_schema", "must be a JSON object");
  }
}

ServerCall ask_completion(std::span<const TokenId> prompt, const GenerateOptions& o) {
  json::object body{{"prompt", to_array(prompt)},
                    {"n_predict", o.max_tokens > 0 ? o.max_tokens : -1},
                    {"stream", true},
                    {"return_tokens", true},
                    {"return_progress", true},
                    {"cache_prompt", o.cache_prompt}};
  if (o.temperature) body["temperature"] = *o.temperature;
  if (o.top_k) body["top_k"] = *o.top_k;
  if (o.top_p) body["top_p"] = *o.top_p;
  if (o.min_p) body["min_p"] = *o.min_p;
  if (o.seed) body["seed"] = *o.seed;
  if (o.repeat_penalty) body["repeat_penalty"] = *o.repeat_penalty;
  if (!o.stop.empty()) body["stop"] = json::array(o.stop.begin(), o.stop.end());
  if (o.logprobs > 0) body["n_probs"] = o.logprobs;
  if (!o.grammar.empty()) body["grammar"] = o.grammar;
  if (!o.json_schema.empty()) body["json_schema"] = json::parse(o.json_schema);
  if (o.ignore_eos) body["ignore_eos"] = true;
  return completion(body);
}

ServerCall ask_first_token() {
  return completion({{"prompt", "a"},
                     {"n_predict", 1},
                     {"stream", false},
                     {"return_tokens", true},
                     {"cache_prompt", false},
                     {"ignore_eos", true},
                     {"samplers", json::array{"top_k"}},
                     {"top_k", 1}});
}

ServerCall ask_best_tokens(std::span<const TokenId> prompt, int best, TokenId text_token) {
  return completion({{"prompt", to_array(prompt)},
                     {"n_predict", 1},
                     {"stream", false},
                     {"n_probs", best},
                     {"logit_bias", json::array{json::array{text_token, option_bias}}},
                     {"temperature", 0}});
}

ServerCall ask_option_scores(std::span<const TokenId> prompt, std::span<const TokenId> ids) {
  json::array bias;
  for (const auto id : ids)
    bias.push_back(json::array{id, option_bias});
  return completion({{"prompt", to_array(prompt)},
                     {"n_predict", 1},
                     {"stream", false},
                     {"n_probs", ids.size()},
                     {"post_sampling_probs", true},
                     {"logit_bias", std::move(bias)},
                     {"samplers", json::array{"top_k", "temperature"}},
                     {"top_k", ids.size()},
                     {"temperature", 1.0}});
}

Classification parse_best_tokens(std::string_view body) {
  const auto answer = parse_json(body);
  const auto* probabilities = first_probabilities(answer);
  if (!probabilities) throw_protocol_error("no \"completion_probabilities\"");
  Classification result{.prompt_tokens = prompt_tokens(answer)};
  for (const auto& entry : array_member(*probabilities, "top_logprobs")) {
    result.candidates.push_back({.id = int_or(find(entry, "id"), -1),
                                 .text = std::string(text_or(find(entry, "token"), "")),
                                 .logprob = number_or(find(entry, "logprob"), 0)});
  }
  return result;
}

std::optional<Classification> parse_option_scores(std::string_view body,
                                                  std::span<const TokenId> ids) {
  const auto answer = parse_json(body);
  const auto* probabilities = first_probabilities(answer);
  if (!probabilities) return std::nullopt;
  Classification scored{.prompt_tokens = prompt_tokens(answer)};
  for (const auto& entry : array_member(*probabilities, "top_probs")) {
    scored.candidates.push_back({.id = int_or(find(entry, "id"), -1),
                                 .text = std::string(text_or(find(entry, "token"), "")),
                                 .logprob = std::log(number_or(find(entry, "prob"), 0))});
  }
  return among(scored, ids);
}

Classification among(const Classification& all, std::span<const TokenId> ids) {
  Classification result{.prompt_tokens = all.prompt_tokens};
  double highest = -std::numeric_limits<double>::infinity();
  for (const auto id : ids) {
    const auto found = std::find_if(all.candidates.begin(), all.candidates.end(),
                                    [&](const auto& candidate) { return candidate.id == id; });
    if (found == all.candidates.end()) {
      throw Error(errc::invalid_option, fmt::format("the model has no token {}", id));
    }
    result.candidates.push_back(*found);
    highest = std::max(highest, found->logprob);
  }
  if (!std::isfinite(highest)) throw_protocol_error("no probability above zero");
  double sum = 0;
  for (const auto& candidate : result.candidates)
    sum += std::exp(candidate.logprob - highest);
  for (auto& candidate : result.candidates)
    candidate.logprob -= highest + std::log(sum);
  return result;
}

void check_first_token(std::string_view body) {
  const auto answer = parse_json(body);
  if (int_or(find(answer, "tokens_predicted"), 0) < 1) throw_protocol_error("no token in it");
}

}  // namespace llamavisor::server
