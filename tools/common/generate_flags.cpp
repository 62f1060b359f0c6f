#include "common/generate_flags.hpp"

#include <llamavisor/error.hpp>

#include "common/input.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <string>

namespace llamavisor::cli {

namespace {

/// An empty grammar would mean none at all to the library, and the answer would be unbound.
std::string read_rules(const std::filesystem::path& file, const char* option) {
  if (file.empty()) return {};
  auto text = read_file(file, option);
  if (!text.empty()) return text;
  throw Error(errc::invalid_option,
              fmt::format("{}, the file of {}, is empty", file.string(), option));
}

}  // namespace

void GenerateFlags::describe_to(CLI::App& app) {
  const auto group = "Answer";
  const auto add = [&](const char* names, auto& value, const char* text, const char* type) {
    return app.add_option(names, value, text)->type_name(type)->group(group);
  };
  const auto add_list = [&](const char* names, auto& value, const char* text, const char* type) {
    add(names, value, text, type)->expected(1)->allow_extra_args(false)->take_all();
  };
  add("-n,--max-tokens", options.max_tokens, "0 = until the context ends (the default)", "N");
  add("--temperature", options.temperature, "0 = greedy; the server's own default is 0.8", "T");
  add("--top-k", options.top_k, "0 = off", "K");
  add("--top-p", options.top_p, "1 = off", "P");
  add("--min-p", options.min_p, "0 = off", "P");
  add("--seed", options.seed, "Otherwise random", "N");
  add("--repeat-penalty", options.repeat_penalty, "1 = off", "X");
  add_list("--stop", options.stop, "The answer ends before this text; may be repeated", "TEXT");
  add_list("--stop-token", options.stop_tokens,
           "The answer ends before this token; may be repeated", "ID");
  add("--logprobs", options.logprobs, "Best N alternatives of each token", "N");
  auto* gbnf = add("--grammar", grammar, "File of a grammar (GBNF) for the answer", "FILE");
  add("--json-schema", json_schema, "File of a JSON schema for the answer", "FILE")->excludes(gbnf);
  app.add_flag("--ignore-eos", options.ignore_eos, "Go on past the end of the text")->group(group);
  app.add_flag("--no-cache-prompt", no_cache_prompt, "Reuse nothing of an earlier prompt")
      ->group(group);
  add("--deadline", deadline_ms, "The answer fails when it takes longer; 0 = none", "MS");
}

GenerateOptions GenerateFlags::to_options() const {
  auto result = options;
  result.grammar = read_rules(grammar, "--grammar");
  result.json_schema = read_rules(json_schema, "--json-schema");
  result.cache_prompt = !no_cache_prompt;
  result.deadline = std::chrono::milliseconds(deadline_ms);
  validate(result);
  return result;
}

}  // namespace llamavisor::cli
