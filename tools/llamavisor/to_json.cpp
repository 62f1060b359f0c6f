#include "llamavisor/to_json.hpp"

#include "common/utf8.hpp"

#include <chrono>
#include <cmath>
#include <string_view>

namespace llamavisor::cli {

namespace json = boost::json;

namespace {

/// Numbers and texts, as they are.
template <typename Value>
json::array plain_list(const std::vector<Value>& values) {
  return json::array(values.begin(), values.end());
}

/// JSON knows no infinity.
json::value number(double value) {
  if (std::isfinite(value)) return value;
  return nullptr;
}

template <typename Value>
json::value or_null(const std::optional<Value>& value) {
  if (value) return *value;
  return nullptr;
}

json::value or_null(const std::string& text) {
  if (!text.empty()) return json::string(text);
  return nullptr;
}

json::object to_json(const Timings& timings) {
  return {{"prompt_ms", number(timings.prompt_ms)},
          {"generate_ms", number(timings.generate_ms)},
          {"first_token_ms", number(timings.first_token_ms)},
          {"total_ms", number(timings.total_ms)},
          {"cached_tokens", timings.cached_tokens},
          {"prompt_per_second", number(timings.prompt_per_second)},
          {"generate_per_second", number(timings.generate_per_second)}};
}

/// Seconds since 1970, to the millisecond.
double seconds(std::chrono::system_clock::time_point time) {
  using std::chrono::milliseconds;
  const auto passed = std::chrono::duration_cast<milliseconds>(time.time_since_epoch());
  return static_cast<double>(passed.count()) / 1000;
}

}  // namespace

json::object to_json(const Resume& resume) {
  return {{"generation", resume.generation},
          {"way", name(resume.way)},
          {"text_bytes", resume.text_bytes}};
}

json::object to_json(const Device& device) {
  return {{"name", or_null(device.name)},
          {"vendor", device.vendor},
          {"model", device.model},
          {"kind", name(device.kind)},
          {"kind_is_guess", device.kind_is_guess},
          {"gfx", or_null(device.gfx)},
          {"effective_gfx", or_null(device.effective_gfx)},
          {"pci", or_null(device.pci)},
          {"uuid", or_null(device.uuid)},
          {"memory_total", device.memory_total},
          {"memory_free", device.memory_free},
          {"usable", device.usable},
          {"reason", or_null(device.reason)},
          {"engines", plain_list(device.engines)}};
}

json::object to_json(const Engine& engine) {
  return {{"flavour", engine.flavour},
          {"build", engine.build},
          {"version", engine.version},
          {"folder", engine.folder.string()},
          {"source", engine.source},
          {"found_by", engine.found_by},
          {"command", plain_list(engine.command)}};
}

json::object to_json(const Event& event) {
  json::object object{{"kind", name(event.kind)},
                      {"time", seconds(event.time)},
                      {"generation", event.generation},
                      {"device", event.device},
                      {"message", event.message}};
  if (event.fraction) object["fraction"] = *event.fraction;
  if (!event.from.empty()) object["from"] = event.from;
  if (!event.to.empty()) object["to"] = event.to;
  if (event.failure) object["failure"] = to_json(*event.failure);
  return object;
}

json::object to_json(const Failure& failure) {
  json::object object{{"code", name(failure.code)},
                      {"message", failure.message},
                      {"phase", name(failure.phase)},
                      {"cause", name(failure.cause)},
                      {"exit_code", or_null(failure.exit_code)},
                      {"signal", or_null(failure.signal)},
                      {"http_status", failure.http_status},
                      {"server_message", or_null(failure.server_message)},
                      {"last_lines", plain_list(failure.last_lines)}};
  if (!failure.causes.empty()) object["causes"] = list_to_json(failure.causes);
  return object;
}

json::object to_json(const FoundModel& model) {
  json::array missing;
  for (const auto& part : model.missing_parts)
    missing.emplace_back(to_utf8(part));
  return {{"path", to_utf8(model.path.string())},
          {"kind", name(model.kind)},
          {"name", or_null(to_utf8(model.name))},
          {"architecture", or_null(to_utf8(model.architecture))},
          {"size_label", or_null(to_utf8(model.size_label))},
          {"parameters", model.parameters},
          {"quantisation", or_null(model.quantisation)},
          {"size", model.size},
          {"context_length", model.context_length},
          {"has_chat_template", model.has_chat_template},
          {"parts", model.parts},
          {"missing_parts", std::move(missing)},
          {"usable", model.usable()},
          {"reason", or_null(to_utf8(model.reason))}};
}

json::object to_json(const GenerateResult& result) {
  return {{"text", result.text},
          {"token_ids", plain_list(result.token_ids)},
          {"token_ids_complete", result.token_ids_complete},
          {"prompt_tokens", result.prompt_tokens},
          {"generated_tokens", result.generated_tokens},
          {"finish_reason", name(result.finish_reason)},
          {"stop_string", or_null(result.stop_string)},
          {"device", result.device},
          {"engine_build", result.engine_build},
          {"generations", result.generations},
          {"resumes", list_to_json(result.resumes)},
          {"exact", result.exact},
          {"timings", to_json(result.timings)}};
}

json::object to_json(const TokenLogprob& token) {
  return {{"id", token.id}, {"text", token.text}, {"logprob", number(token.logprob)}};
}

json::object to_json(const Token& token) {
  return {{"id", token.id},
          {"text", token.text},
          {"logprob", or_null(token.logprob)},
          {"top", list_to_json(token.top)}};
}

}  // namespace llamavisor::cli
