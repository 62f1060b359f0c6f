#include "server/load_log.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace llamavisor::server {

namespace {

/// Words that open a step, in builds from b6000 to b11669. Later steps come first: "loading model"
/// is in the line of the tensors, too. "on" matters: old builds say "server is listening," before
/// they load.
constexpr std::array<std::pair<std::string_view, LoadStep>, 8> openings{{
    {"server is listening on", LoadStep::loaded},
    {"llama_server: listening on", LoadStep::loaded},
    {"model loaded", LoadStep::loaded},
    {"warming up the model", LoadStep::warming_up},
    {"llama_context: constructing", LoadStep::building_context},
    {"load_tensors: loading model tensors", LoadStep::loading_weights},
    {"llama_model_loader: loaded meta data", LoadStep::reading_model},
    {"loading model", LoadStep::reading_model},
}};

/// The number just before `end`, or -1.
int number_before(std::string_view text) {
  std::size_t begin = text.size();
  while (begin > 0 && text[begin - 1] >= '0' && text[begin - 1] <= '9')
    --begin;
  int value = -1;
  std::from_chars(text.data() + begin, text.data() + text.size(), value);
  return value;
}

/// The number at the start, or -1.
int number_at(std::string_view text) {
  int value = -1;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::optional<OffloadedLayers> offloaded(std::string_view line) {
  const auto words = line.find("offloaded ");
  const auto slash = line.find('/', words == std::string_view::npos ? line.size() : words);
  if (slash == std::string_view::npos || line.find(" layers to GPU") == std::string_view::npos) {
    return std::nullopt;
  }
  const int on_gpu = number_before(line.substr(0, slash));
  const int total = number_at(line.substr(slash + 1));
  if (on_gpu < 0 || total < 0) return std::nullopt;
  return OffloadedLayers{.on_gpu = on_gpu, .total = total};
}

}  // namespace

std::string_view name(LoadStep step) noexcept {
  switch (step) {
    case LoadStep::starting: return "starting";
    case LoadStep::reading_model: return "reading the model";
    case LoadStep::loading_weights: return "loading weights";
    case LoadStep::building_context: return "building the context";
    case LoadStep::warming_up: return "warming up";
    case LoadStep::loaded: return "loaded";
  }
  return "unknown";
}

std::optional<LoadLog::Progress> LoadLog::read(std::string_view line) {
  if (auto layers = offloaded(line)) layers_ = layers;
  for (const auto& [words, step] : openings) {
    if (line.find(words) != std::string_view::npos) return advance(step);
  }
  return count_dots(line);
}

/// Steps never go back: a log may name an earlier one again.
std::optional<LoadLog::Progress> LoadLog::advance(LoadStep step) {
  if (step <= progress_.step) return std::nullopt;
  progress_ = {.step = step};
  return progress_;
}

/// llama.cpp prints a dot for each hundredth of the weights.
std::optional<LoadLog::Progress> LoadLog::count_dots(std::string_view line) {
  if (progress_.step != LoadStep::loading_weights || line.empty()) return std::nullopt;
  const auto dots = std::count(line.begin(), line.end(), '.');
  if (static_cast<std::size_t>(dots) != line.size()) return std::nullopt;
  progress_.fraction =
      std::min(1.0, progress_.fraction.value_or(0) + static_cast<double>(dots) / 100.0);
  return progress_;
}

}  // namespace llamavisor::server
