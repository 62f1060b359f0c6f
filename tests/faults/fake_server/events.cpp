#include "events.hpp"

#include "json_text.hpp"
#include "settings_json.hpp"
#include "tokenizer.hpp"

#include <algorithm>
#include <cmath>

namespace fake {
namespace {

double milliseconds(Answer::Clock::duration time) {
  return static_cast<double>(std::chrono::duration_cast<std::chrono::microseconds>(time).count()) /
         1000;
}

double per(double what, double of) {
  return of > 0 ? what / of : 0;
}

std::string timings_json(const Answer& answer) {
  const auto prompt_n = static_cast<int>(answer.prompt.size()) - answer.cached;
  const auto prompt_ms = answer.predicted > 0
                             ? milliseconds(answer.generation_began - answer.prompt_began)
                             : milliseconds(answer.now - answer.prompt_began);
  const auto predicted_ms =
      answer.predicted > 0 ? std::max(0.001, milliseconds(answer.now - answer.generation_began))
                           : 0;
  std::string out = "{\"cache_n\":" + std::to_string(answer.cached);
  out += ",\"prompt_n\":" + std::to_string(prompt_n);
  out += ",\"prompt_ms\":" + json_number(prompt_ms);
  out += ",\"prompt_per_token_ms\":" + json_number(per(prompt_ms, prompt_n));
  out += ",\"prompt_per_second\":" + json_number(per(1000.0 * prompt_n, prompt_ms));
  out += ",\"predicted_n\":" + std::to_string(answer.predicted);
  out += ",\"predicted_ms\":" + json_number(predicted_ms);
  // The first token comes with the prompt: the steps are one fewer than the tokens.
  const int steps = answer.predicted - 1;
  out += ",\"predicted_per_token_ms\":" + json_number(steps > 0 ? predicted_ms / steps : 0);
  out +=
      ",\"predicted_per_second\":" + json_number(steps > 0 ? per(1000.0 * steps, predicted_ms) : 0);
  return out + "}";
}

std::string event_start(const Answer& answer, std::string_view text, int id) {
  std::string out = "{\"index\":" + std::to_string(answer.index) + ",\"content\":";
  append_json_string(out, text);
  out += ",\"tokens\":[";
  out += std::to_string(id);
  out += "],\"stop\":false,\"id_slot\":-1,\"tokens_predicted\":";
  out += std::to_string(answer.predicted);
  out += ",\"tokens_evaluated\":" + std::to_string(answer.prompt.size());
  return out;
}

std::string bytes_json(std::string_view text) {
  std::string out = "[";
  for (const char byte : text) {
    if (out.size() > 1) out.push_back(',');
    out += std::to_string(static_cast<unsigned char>(byte));
  }
  return out + "]";
}

std::string token_json(int id, std::string_view text, std::string_view key, double value) {
  return "\"id\":" + std::to_string(id) + ",\"token\":" + json_string(text) +
         ",\"bytes\":" + bytes_json(text) + ",\"" + std::string(key) + "\":" + json_number(value);
}

}  // namespace

std::string token_event(const Answer& answer, int id, std::string_view text, bool with_timings,
                        std::string_view probabilities) {
  auto out = event_start(answer, text, id);
  if (with_timings) out += ",\"timings\":" + timings_json(answer);
  if (!probabilities.empty()) {
    out.append(",\"completion_probabilities\":[").append(probabilities).push_back(']');
  }
  out.push_back('}');
  return out;
}

std::string progress_event(const Answer& answer, int processed, bool with_timings) {
  // The real one names token 0 in these: no token at all.
  auto out = event_start(answer, "", 0);
  if (with_timings) out += ",\"timings\":" + timings_json(answer);
  const auto time =
      std::chrono::duration_cast<std::chrono::milliseconds>(answer.now - answer.prompt_began);
  out += ",\"prompt_progress\":{\"total\":" + std::to_string(answer.prompt.size());
  out += ",\"cache\":" + std::to_string(answer.cached);
  out += ",\"processed\":" + std::to_string(processed);
  out += ",\"time_ms\":" + std::to_string(time.count());
  return out + "}}";
}

std::string final_event(const Answer& answer, const CompletionRequest& request,
                        std::string_view alias) {
  const auto flag = [](bool value) { return value ? "true" : "false"; };
  std::string out = "{\"index\":" + std::to_string(answer.index) + ",\"content\":";
  append_json_string(out, request.stream ? std::string_view() : answer.text);
  out += ",\"tokens\":[";
  if (!request.stream && request.return_tokens) {
    for (std::size_t at = 0; at < answer.tokens.size(); ++at) {
      if (at > 0) out.push_back(',');
      out += std::to_string(answer.tokens[at]);
    }
  }
  out += "],\"id_slot\":" + std::to_string(answer.id_slot);
  out += ",\"stop\":true,\"model\":" + json_string(alias);
  out += ",\"tokens_predicted\":" + std::to_string(answer.predicted);
  out += ",\"tokens_evaluated\":" + std::to_string(answer.prompt.size());
  out += ",\"generation_settings\":" + settings_json(request);
  out += ",\"prompt\":" + json_string(detokenize(answer.prompt));
  out += std::string(",\"has_new_line\":") + flag(answer.text.find('\n') != std::string::npos);
  out += std::string(",\"truncated\":") + flag(answer.truncated);
  out += ",\"stop_type\":" + json_string(answer.stop_type);
  out += ",\"stopping_word\":" + json_string(answer.stopping_word);
  out += ",\"tokens_cached\":" +
         std::to_string(static_cast<int>(answer.prompt.size()) + answer.predicted - 1);
  out += ",\"timings\":" + timings_json(answer);
  if (!request.stream && !answer.probabilities.empty()) {
    out += ",\"completion_probabilities\":[" + answer.probabilities + "]";
  }
  return out + "}";
}

std::string probability_json(const CompletionRequest& request, const Generation& generation, int id,
                             std::string_view text) {
  const auto key = request.post_sampling_probs ? "prob" : "logprob";
  const auto list = request.post_sampling_probs ? "top_probs" : "top_logprobs";
  const auto all = request.post_sampling_probs ? generation.best_sampled(vocabulary, request.top_k)
                                               : generation.best(vocabulary);
  const auto own = std::find_if(all.begin(), all.end(),
                                [&](const Candidate& candidate) { return candidate.id == id; });
  const double least = request.post_sampling_probs ? 0 : -1e9;
  std::string out = "{" + token_json(id, text, key, own == all.end() ? least : own->value);
  out += std::string(",\"") + list + "\":[";
  for (std::size_t at = 0; at < std::min(request.n_probs, all.size()); ++at) {
    if (at > 0) out.push_back(',');
    out += "{" +
           token_json(all[at].id, all[at].id < 256 ? piece(all[at].id) : "", key, all[at].value) +
           "}";
  }
  return out + "]}";
}

}  // namespace fake
