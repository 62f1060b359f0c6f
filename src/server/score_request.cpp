#include "server/score_request.hpp"

#include "server/json.hpp"

#include <cmath>

namespace llamavisor::server {

namespace json = boost::json;

namespace {

constexpr TokenId separator = -1;  ///< no token: the server hands ids in a mixed text through

json::array to_array(std::span<const TokenId> ids) {
  return json::array(ids.begin(), ids.end());
}

ServerCall one_token(std::span<const TokenId> ids, bool cache_prompt, json::object members) {
  members["prompt"] = to_array(ids);
  members["cache_prompt"] = cache_prompt;
  members["n_predict"] = 1;
  members["stream"] = false;
  return {.method = "POST", .target = "/completion", .body = json::serialize(members)};
}

json::array bias_of(TokenId id, double bias) {
  return json::array{id, bias};
}

double logprob_of(const json::value& entry) {
  if (const auto* logprob = find(entry, "logprob")) return number_or(logprob, 0);
  return std::log(number_or(find(entry, "prob"), 0));
}

void read_probabilities(const json::value& first, ScoreReply& reply) {
  reply.told = true;
  reply.sampled = logprob_of(first);
  for (const auto* key : {"top_probs", "top_logprobs"}) {
    const auto* list = find(first, key);
    const auto* entries = list ? list->if_array() : nullptr;
    if (!entries) continue;
    reply.top.reserve(entries->size());
    for (const auto& entry : *entries)
      reply.top.push_back({.id = int_or(find(entry, "id"), -1), .logprob = logprob_of(entry)});
  }
}

}  // namespace

ServerCall ask_prefix(std::span<const TokenId> ids, bool cache_prompt) {
  return one_token(ids, cache_prompt, {{"samplers", json::array{"top_k"}}, {"top_k", 1}});
}

ServerCall ask_option_row(std::span<const TokenId> ids, std::span<const TokenId> options,
                          double bias, bool cache_prompt) {
  json::array biases;
  for (const auto id : options)
    biases.push_back(bias_of(id, bias));
  return one_token(ids, cache_prompt,
                   {{"n_probs", options.size()},
                    {"post_sampling_probs", true},
                    {"logit_bias", std::move(biases)},
                    {"samplers", json::array{"top_k", "temperature"}},
                    {"top_k", options.size()},
                    {"temperature", 1.0}});
}

ServerCall ask_vocabulary_row(std::span<const TokenId> ids, int vocabulary, TokenId text_token,
                              bool cache_prompt) {
  return one_token(ids, cache_prompt,
                   {{"n_probs", vocabulary},
                    {"logit_bias", json::array{bias_of(text_token, 100.0)}},
                    {"temperature", 0}});
}

ServerCall ask_token_score(std::span<const TokenId> ids, TokenId next, bool cache_prompt) {
  return one_token(
      ids, cache_prompt,
      {{"n_probs", 1}, {"logit_bias", json::array{bias_of(next, 1000.0)}}, {"temperature", 0}});
}

ScoreReply parse_score(std::string_view body) {
  const auto answer = parse_json(body);
  ScoreReply reply;
  const auto* timings = find(answer, "timings");
  if (!timings) throw_protocol_error("no \"timings\"");
  reply.cached = int_or(find(*timings, "cache_n"), -1);
  const auto* list = find(answer, "completion_probabilities");
  const auto* array = list ? list->if_array() : nullptr;
  if (array && !array->empty()) read_probabilities(array->front(), reply);
  return reply;
}

ServerCall ask_tokenize_each(std::span<const std::string> texts, bool parse_special) {
  json::array content;
  for (const auto& text : texts) {
    if (!content.empty()) content.push_back(separator);
    content.push_back(json::string(text));
  }
  return {.method = "POST",
          .target = "/tokenize",
          .body = json::serialize(json::object{{"content", std::move(content)},
                                               {"add_special", false},
                                               {"parse_special", parse_special}})};
}

std::vector<std::vector<TokenId>> parse_each(std::string_view body, std::size_t count) {
  const auto answer = parse_json(body);
  const auto* tokens = find(answer, "tokens");
  if (!tokens || !tokens->is_array()) throw_protocol_error("\"tokens\" is no array");
  std::vector<std::vector<TokenId>> lists(1);
  for (const auto& token : tokens->get_array()) {
    const auto id = int_or(&token, separator);
    if (id == separator) {
      lists.emplace_back();
    } else {
      lists.back().push_back(id);
    }
  }
  if (lists.size() != count) throw_protocol_error("the ids of several texts are not kept apart");
  return lists;
}

ServerCall ask_plain_answer_template(std::span<const Message> messages) {
  json::array turns;
  for (const auto& message : messages)
    turns.push_back(json::object{{"role", message.role}, {"content", message.content}});
  return {.method = "POST",
          .target = "/apply-template",
          .body = json::serialize(
              json::object{{"messages", std::move(turns)},
                           {"chat_template_kwargs", json::object{{"enable_thinking", false}}}})};
}

}  // namespace llamavisor::server
