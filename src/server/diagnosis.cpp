#include "server/diagnosis.hpp"

#include "server/failure_texts.hpp"

#include <signal.h>

#include <algorithm>
#include <array>

namespace llamavisor::server {
namespace {

constexpr std::size_t longest_detail = 300;

/// A line without the quoted paths in it: a model may be called '/models/out of memory.gguf'.
std::string without_paths(std::string_view line) {
  std::string kept;
  while (true) {
    const auto open = line.find('\'');
    const auto close = open == std::string_view::npos ? open : line.find('\'', open + 1);
    if (close == std::string_view::npos) return kept.append(line);
    const auto quoted = line.substr(open, close + 1 - open);
    kept.append(line.substr(0, open));
    if (quoted.find('/') == std::string_view::npos) kept.append(quoted);
    line.remove_prefix(close + 1);
  }
}

/// Without "0.00.184.987 E ", the time and level of the newer servers' log.
std::string_view without_log_prefix(std::string_view line) {
  const auto end = line.find_first_not_of("0123456789.");
  if (end == 0 || end == std::string_view::npos || line.size() < end + 3) return line;
  if (line[end] == ' ' && line[end + 2] == ' ') line.remove_prefix(end + 3);
  return line.substr(std::min(line.find_first_not_of(' '), line.size()));
}

std::string shorten(std::string_view line) {
  line = without_log_prefix(line);
  if (line.size() <= longest_detail) return std::string(line);
  auto end = longest_detail;
  while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xC0) == 0x80)
    --end;
  return std::string(line.substr(0, end)) + "...";
}

/// The library of "...: error while loading shared libraries: libX.so: file too short".
std::string library_name(std::string_view line) {
  constexpr std::string_view lead = "error while loading shared libraries: ";
  const auto at = line.find(lead);
  if (at == std::string_view::npos) return shorten(line);
  auto name = line.substr(at + lead.size());
  name = name.substr(0, name.find(": "));
  return std::string(name.substr(name.rfind('/') + 1));
}

bool concerns_library(Cause cause) {
  return cause == Cause::missing_library || cause == Cause::damaged_library ||
         cause == Cause::wrong_architecture;
}

std::optional<Diagnosis> by_text(const std::vector<std::string>& lines) {
  std::vector<std::string> cleaned;
  cleaned.reserve(lines.size());
  for (const auto& line : lines)
    cleaned.push_back(without_paths(line));
  for (const auto& row : failure_texts()) {
    for (std::size_t at = 0; at < lines.size(); ++at) {
      if (!matches(cleaned[at], row.pattern)) continue;
      return Diagnosis{row.cause,
                       concerns_library(row.cause) ? library_name(lines[at]) : shorten(lines[at])};
    }
  }
  return std::nullopt;
}

/// Somebody else's doing, whatever the log says. Our own stop never gets here.
bool is_killed_from_outside(int signal) {
  constexpr std::array signals{SIGKILL, SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGXCPU, SIGXFSZ};
  return std::find(signals.begin(), signals.end(), signal) != signals.end();
}

std::optional<Diagnosis> by_signal_alone(int signal) {
  if (is_killed_from_outside(signal)) return Diagnosis{Cause::killed_from_outside, {}};
  if (signal == SIGILL) return Diagnosis{Cause::illegal_instruction, {}};
  return std::nullopt;
}

/// No text told: what the silence tells.
std::optional<Diagnosis> by_silence(const Evidence& evidence) {
  const auto& exit = evidence.exit;
  if (exit && exit->code == 127) return Diagnosis{Cause::missing_library, {}};
  if (evidence.any_output || !exit || !exit->signal) return std::nullopt;
  // Seen of a library that was cut off in the middle: the loader maps it and falls over the edge.
  if (*exit->signal == SIGBUS) return Diagnosis{Cause::damaged_library, {}};
  if (evidence.on_gpu) return Diagnosis{Cause::crash_at_device_init, {}};
  return std::nullopt;
}

/// The last line that sounds like trouble, else the last one.
std::string loudest_line(const std::vector<std::string>& lines) {
  constexpr std::array sounds{" E ", "what():", "GGML_ASSERT", "rror", "failed", "Fatal"};
  const auto loud = std::find_if(lines.rbegin(), lines.rend(), [&](const std::string& line) {
    return std::any_of(sounds.begin(), sounds.end(),
                       [&](const char* sound) { return line.find(sound) != std::string::npos; });
  });
  if (loud != lines.rend()) return shorten(*loud);
  return lines.empty() ? std::string() : shorten(lines.back());
}

}  // namespace

Diagnosis diagnose(const Evidence& evidence) {
  if (evidence.exit && evidence.exit->signal) {
    if (auto found = by_signal_alone(*evidence.exit->signal)) return *std::move(found);
  }
  if (auto found = by_text(evidence.last_lines)) return *std::move(found);
  if (auto found = by_silence(evidence)) return *std::move(found);
  return {Cause::unknown, loudest_line(evidence.last_lines)};
}

}  // namespace llamavisor::server
