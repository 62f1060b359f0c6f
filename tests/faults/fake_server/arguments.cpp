#include "arguments.hpp"

#include "words.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <string_view>
#include <vector>

namespace fake {
namespace {

struct Flag {
  std::string_view names;  ///< as --help prints them: "-c, --ctx-size"
  std::string_view value;  ///< its placeholder; empty = a switch
  bool in_old = true;      ///< builds of a year ago knew it
};

constexpr std::array flags{
    Flag{"-h, --help, --usage", ""},
    Flag{"--version", ""},
    Flag{"--list-devices", ""},
    Flag{"-t, --threads", "N"},
    Flag{"-tb, --threads-batch", "N"},
    Flag{"--prio", "N"},
    Flag{"--poll", "<0...100>"},
    Flag{"-c, --ctx-size", "N"},
    Flag{"-n, --predict, --n-predict", "N"},
    Flag{"-b, --batch-size", "N"},
    Flag{"-ub, --ubatch-size", "N"},
    Flag{"--keep", "N"},
    Flag{"--swa-full", ""},
    Flag{"-fa, --flash-attn", "[on|off|auto]"},
    Flag{"--rope-scaling", "{none,linear,yarn}"},
    Flag{"--rope-scale", "N"},
    Flag{"--rope-freq-base", "N"},
    Flag{"--rope-freq-scale", "N"},
    Flag{"--repack, -nr, --no-repack", "", false},
    Flag{"-kvo, --kv-offload, -nkvo, --no-kv-offload", "", false},
    Flag{"-ctk, --cache-type-k", "TYPE"},
    Flag{"-ctv, --cache-type-v", "TYPE"},
    Flag{"-lm, --load-mode", "MODE", false},
    Flag{"--numa", "TYPE"},
    Flag{"-dev, --device", "<dev1,dev2,..>"},
    Flag{"-ot, --override-tensor", "<tensor name pattern>=<buffer type>,..."},
    Flag{"-cmoe, --cpu-moe", "", false},
    Flag{"-ncmoe, --n-cpu-moe", "N", false},
    Flag{"-ngl, --gpu-layers, --n-gpu-layers", "N"},
    Flag{"-sm, --split-mode", "{none,layer,row,tensor}"},
    Flag{"-ts, --tensor-split", "N0,N1,N2,..."},
    Flag{"-mg, --main-gpu", "INDEX"},
    Flag{"-fit, --fit", "[on|off]", false},
    Flag{"-fitt, --fit-target", "MiB0,MiB1,MiB2,...", false},
    Flag{"-fitc, --fit-ctx", "N", false},
    Flag{"--check-tensors", ""},
    Flag{"--override-kv", "KEY=TYPE:VALUE,..."},
    Flag{"--lora", "FNAME"},
    Flag{"--lora-scaled", "FNAME:SCALE,..."},
    Flag{"-m, --model", "FNAME"},
    Flag{"--log-disable", ""},
    Flag{"--log-file", "FNAME"},
    Flag{"--log-colors", "[on|off|auto]"},
    Flag{"-v, --verbose, --log-verbose", ""},
    Flag{"--offline", "", false},
    Flag{"-lv, --verbosity, --log-verbosity", "N"},
    Flag{"--log-prefix, --no-log-prefix", ""},
    Flag{"--log-timestamps, --no-log-timestamps", ""},
    Flag{"--samplers", "SAMPLERS"},
    Flag{"-s, --seed", "SEED"},
    Flag{"--temp, --temperature", "N"},
    Flag{"--top-k", "N"},
    Flag{"--top-p", "N"},
    Flag{"--min-p", "N"},
    Flag{"-ctxcp, --ctx-checkpoints, --swa-checkpoints", "N", false},
    Flag{"-cram, --cache-ram", "N", false},
    Flag{"-kvu, --kv-unified, -no-kvu, --no-kv-unified", "", false},
    Flag{"--cache-idle-slots, --no-cache-idle-slots", "", false},
    Flag{"--context-shift, --no-context-shift", ""},
    Flag{"-sp, --special", ""},
    Flag{"--warmup, --no-warmup", ""},
    Flag{"-np, --parallel", "N"},
    Flag{"-cb, --cont-batching, -nocb, --no-cont-batching", ""},
    Flag{"-mm, --mmproj", "FILE"},
    Flag{"-a, --alias", "STRING"},
    Flag{"--host", "HOST"},
    Flag{"--port", "PORT"},
    Flag{"--reuse-port", "", false},
    Flag{"--path", "PATH"},
    Flag{"--api-prefix", "PREFIX"},
    Flag{"--ui, --webui, --no-ui, --no-webui", "", false},
    Flag{"--no-webui", ""},
    Flag{"--embedding, --embeddings", ""},
    Flag{"--rerank, --reranking", ""},
    Flag{"--api-key", "KEY"},
    Flag{"-to, --timeout", "N"},
    Flag{"--sse-ping-interval", "N", false},
    Flag{"--threads-http", "N"},
    Flag{"--cache-prompt, --no-cache-prompt", "", false},
    Flag{"--cache-reuse", "N"},
    Flag{"--metrics", ""},
    Flag{"--props", ""},
    Flag{"--slots, --no-slots", "", false},
    Flag{"--slots", ""},
    Flag{"--jinja, --no-jinja", ""},
    Flag{"--reasoning-format", "FORMAT"},
    Flag{"--reasoning-budget", "N"},
    Flag{"--chat-template", "JINJA_TEMPLATE"},
    Flag{"--chat-template-file", "JINJA_TEMPLATE_FILE"},
    Flag{"-sps, --slot-prompt-similarity", "SIMILARITY"},
};

bool exists(const Flag& flag, Dialect dialect) {
  if (dialect == Dialect::old) return flag.in_old;
  // The two that today are part of a longer line.
  return flag.names != "--no-webui" && flag.names != "--slots";
}

const Flag* find(std::string_view name, Dialect dialect) {
  for (const auto& flag : flags) {
    if (!exists(flag, dialect)) continue;
    std::string_view rest = flag.names;
    while (true) {
      const auto comma = rest.find(", ");
      if (rest.substr(0, comma) == name) return &flag;
      if (comma == std::string_view::npos) break;
      rest.remove_prefix(comma + 2);
    }
  }
  return nullptr;
}

std::string wrong_value(std::string_view flag, std::string_view why) {
  return "error while handling argument \"" + std::string(flag) + "\": " + std::string(why) +
         "\n\nusage:\n" + std::string(flag) + "\n\n\nto show complete usage, run with -h\n";
}

bool is_any_of(std::string_view flag, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), flag) != names.end();
}

/// Throws std::invalid_argument for a number that is none.
void set(Arguments& arguments, std::string_view flag, const std::string& value) {
  if (is_any_of(flag, {"-m", "--model"})) arguments.model = value;
  if (flag == "--host") arguments.host = value;
  if (flag == "--port") arguments.port = to_int(value);
  if (is_any_of(flag, {"-a", "--alias"})) arguments.alias = value;
  if (is_any_of(flag, {"-dev", "--device"})) arguments.device = value;
  if (is_any_of(flag, {"-ngl", "--gpu-layers", "--n-gpu-layers"})) arguments.gpu_layers = value;
  if (is_any_of(flag, {"-c", "--ctx-size"})) arguments.context = to_int(value);
  if (is_any_of(flag, {"-b", "--batch-size"})) arguments.batch = to_int(value);
  if (is_any_of(flag, {"-np", "--parallel"})) arguments.slots = to_int(value);
  if (flag == "--sse-ping-interval") arguments.ping_seconds = to_int(value);
  if (is_any_of(flag, {"-lv", "--verbosity", "--log-verbosity"})) {
    arguments.verbosity = to_int(value);
  }
  if (flag == "--no-slots") arguments.slots_endpoint = false;
}

}  // namespace

ParsedArguments parse_arguments(int argc, char** argv, Dialect dialect) {
  using Wish = ParsedArguments::Wish;
  ParsedArguments parsed;
  for (int at = 1; at < argc; ++at) {
    const std::string_view name = argv[at];
    const auto* flag = find(name, dialect);
    if (!flag) {
      parsed.error = "error: invalid argument: " + std::string(name) + "\n";
      return parsed;
    }
    std::string value;
    if (!flag->value.empty()) {
      if (at + 1 >= argc) {
        parsed.error = wrong_value(name, "expected value for argument");
        return parsed;
      }
      value = argv[++at];
    }
    if (is_any_of(name, {"-h", "--help", "--usage"})) parsed.wish = Wish::help;
    if (name == "--version") parsed.wish = Wish::version;
    if (name == "--list-devices") parsed.wish = Wish::list_devices;
    if (parsed.wish != Wish::serve) return parsed;
    try {
      set(parsed.arguments, name, value);
    } catch (const std::exception&) {
      parsed.error = wrong_value(name, "stoi");
      return parsed;
    }
  }
  return parsed;
}

std::string help_text(Dialect dialect) {
  std::string text = "----- common params -----\n\n";
  for (const auto& flag : flags) {
    if (!exists(flag, dialect)) continue;
    std::string line(flag.names);
    if (!flag.value.empty()) line.append(" ").append(flag.value);
    line.resize(std::max<std::size_t>(line.size() + 1, 40), ' ');
    text += line + "as the real one\n";
  }
  return text;
}

}  // namespace fake
