#include "statistics.hpp"

#include "conversation.hpp"

#include <fmt/format.h>

#include <utility>

namespace llamavisor::chat {

namespace {

/// The server tells its rate at the end only; a cancelled answer has ours instead.
double tokens_per_second(const GenerateResult& result) {
  const auto& timings = result.timings;
  if (timings.generate_per_second > 0) return timings.generate_per_second;
  const double ms = timings.total_ms - timings.first_token_ms;
  return result.generated_tokens > 1 && ms > 0 ? (result.generated_tokens - 1) * 1000 / ms : 0;
}

std::string parameters(std::uint64_t count) {
  const auto number = static_cast<double>(count);
  if (number >= 1e9) return fmt::format("{:.1f} B parameters", number / 1e9);
  return fmt::format("{:.1f} M parameters", number / 1e6);
}

std::string tokens(std::uint64_t count, double per_second) {
  auto text = fmt::format("{} token{}", count, count == 1 ? "" : "s");
  if (per_second > 0) text += fmt::format(", {:.1f} tokens/s", per_second);
  return text;
}

}  // namespace

std::string answer_line(const GenerateResult& result) {
  auto line =
      tokens(static_cast<std::uint64_t>(result.generated_tokens), tokens_per_second(result));
  if (result.timings.first_token_ms > 0) {
    line += fmt::format(", first token after {:.0f} ms", result.timings.first_token_ms);
  }
  line += fmt::format(", on {} (build {})", result.device, result.engine_build);
  if (result.generations > 1) line += fmt::format(", by {} servers", result.generations);
  return line;
}

std::string model_line(const ModelInfo& info) {
  std::string line = info.name.empty() ? "the model" : info.name;
  const char* before = ": ";
  for (const auto& fact : {info.architecture, info.quantisation, parameters(info.parameters)}) {
    if (!fact.empty()) line += std::exchange(before, ", ") + fact;
  }
  return line;
}

std::string statistics(const Conversation& conversation) {
  const auto info = conversation.model().info();
  const auto sums = conversation.model().metrics();
  std::string text;
  const auto add = [&](const char* name, const std::string& value) {
    text += fmt::format("  {:<14}{}\n", name, value);
  };
  add("model", model_line(info));
  add("device",
      fmt::format("{}, {} engine, build {}", info.device, info.engine, info.engine_build));
  if (info.gpu_layers_total > 0) {
    add("GPU layers", fmt::format("{} of {}", info.gpu_layers, info.gpu_layers_total));
  }
  add("context",
      fmt::format("{} of {} tokens are used", conversation.tokens(), info.context_length));
  add("answers", fmt::format("{}, of which {} failed", sums.requests, sums.failed_requests));
  add("prompts", tokens(sums.prompt_tokens, sums.prompt_per_second));
  add("generated", tokens(sums.generated_tokens, sums.generate_per_second));
  add("first token", fmt::format("after {:.0f} ms in the last answer", sums.last_first_token_ms));
  add("server", fmt::format("process {} of this model, {:.1f} MiB of memory", info.generation,
                            static_cast<double>(sums.server_memory) / (1024 * 1024)));
  return text;
}

}  // namespace llamavisor::chat
