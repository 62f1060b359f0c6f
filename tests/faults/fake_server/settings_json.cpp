#include "settings_json.hpp"

#include "json_text.hpp"

namespace fake {
namespace {

/// `full`: with the members that only a completion's last event has.
std::string settings(const CompletionRequest& request, bool full) {
  std::string out = "{";
  const auto add = [&](std::string_view key, std::string_view value) {
    if (out.size() > 1) out.push_back(',');
    append_json_string(out, key);
    out.push_back(':');
    out += value;
  };
  const auto add_full = [&](std::string_view key, std::string_view value) {
    if (full) add(key, value);
  };
  const auto flag = [](bool value) { return value ? "true" : "false"; };
  const auto& sampling = request.sampling;

  std::string stops = "[";
  for (const auto& stop : request.stops) {
    if (stops.size() > 1) stops.push_back(',');
    append_json_string(stops, stop);
  }
  stops.push_back(']');
  std::string bias = "[";
  for (const auto& [id, value] : sampling.bias) {
    if (bias.size() > 1) bias.push_back(',');
    bias += "{\"bias\":" + json_number(value) + ",\"token\":" + std::to_string(id) + "}";
  }
  bias.push_back(']');
  const auto limit = std::to_string(request.n_predict);

  add("seed", std::to_string(request.random_seed ? 4294967295U : sampling.seed));
  add("temperature", json_number(static_cast<float>(sampling.temperature)));
  add("dynatemp_range", "0.0");
  add("dynatemp_exponent", "1.0");
  add("top_k", std::to_string(request.top_k));
  add("top_p", "0.949999988079071");
  add("min_p", "0.05000000074505806");
  add("top_n_sigma", "-1.0");
  add("xtc_probability", "0.0");
  add("xtc_threshold", "0.10000000149011612");
  add("typical_p", "1.0");
  add("repeat_last_n", "64");
  add("repeat_penalty", "1.0");
  add("presence_penalty", "0.0");
  add("frequency_penalty", "0.0");
  add("dry_multiplier", "0.0");
  add("dry_base", "1.75");
  add("dry_allowed_length", "2");
  add("dry_penalty_last_n", "64");
  add_full("dry_sequence_breakers", R"(["\n",":","\"","*"])");
  add("mirostat", "0");
  add("mirostat_tau", "5.0");
  add("mirostat_eta", "0.10000000149011612");
  add("adaptive_target", "-1.0");
  add("adaptive_decay", "0.8999999761581421");
  add_full("stop", stops);
  add("max_tokens", limit);
  add("n_predict", limit);
  add("n_keep", "0");
  add("n_discard", "0");
  add("ignore_eos", flag(sampling.ignore_eos));
  add("stream", flag(request.stream));
  add_full("logit_bias", bias);
  add("n_probs", std::to_string(request.n_probs));
  add("min_keep", "0");
  add_full("grammar", json_string(request.grammar));
  add_full("grammar_lazy", "false");
  add_full("grammar_triggers", "[]");
  add_full("preserved_tokens", "[]");
  add("chat_format", R"("Content-only")");
  add("reasoning_format", R"("deepseek")");
  add("reasoning_in_content", "false");
  add("generation_prompt", R"("")");
  add("samplers",
      R"(["penalties","dry","top_n_sigma","top_k","typ_p","top_p","min_p","xtc","temperature"])");
  add("speculative.types", R"("none")");
  add("timings_per_token", flag(request.timings_per_token));
  add("post_sampling_probs", flag(request.post_sampling_probs));
  add("backend_sampling", "false");
  add("lora", "[]");
  out.push_back('}');
  return out;
}

}  // namespace

std::string settings_json(const CompletionRequest& request) {
  return settings(request, true);
}

std::string short_settings_json(const CompletionRequest& request) {
  return settings(request, false);
}

}  // namespace fake
