#include "words.hpp"

#include <signal.h>

#include <charconv>
#include <map>
#include <stdexcept>

namespace fake {

void not_understood(std::string_view what) {
  throw std::invalid_argument("not understood: " + std::string(what));
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const auto end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string join(const std::vector<std::string>& parts, char separator) {
  std::string text;
  for (const auto& part : parts) {
    if (&part != &parts.front()) text.push_back(separator);
    text += part;
  }
  return text;
}

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  for (const auto& line : split(text, '\n')) {
    for (const auto& word : split(line, ' ')) {
      if (word.starts_with('#')) break;
      if (!word.empty()) words.push_back(word);
    }
  }
  return words;
}

std::string take_front(std::vector<std::string>& parts) {
  if (parts.empty()) not_understood("something is missing");
  auto front = parts.front();
  parts.erase(parts.begin());
  return front;
}

long long to_long(std::string_view text) {
  long long number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) not_understood(text);
  return number;
}

int to_int(std::string_view text) {
  return static_cast<int>(to_long(text));
}

int to_signal(std::string_view name) {
  static const std::map<std::string_view, int> signals{
      {"ABRT", SIGABRT}, {"BUS", SIGBUS},   {"FPE", SIGFPE},   {"HUP", SIGHUP},   {"ILL", SIGILL},
      {"INT", SIGINT},   {"KILL", SIGKILL}, {"PIPE", SIGPIPE}, {"QUIT", SIGQUIT}, {"SEGV", SIGSEGV},
      {"STOP", SIGSTOP}, {"TERM", SIGTERM}, {"TRAP", SIGTRAP},
  };
  const auto found = signals.find(name.starts_with("SIG") ? name.substr(3) : name);
  if (found == signals.end()) not_understood(name);
  return found->second;
}

std::string percent_decoded(std::string_view text) {
  std::string decoded;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%' || at + 2 >= text.size()) {
      decoded.push_back(text[at]);
      continue;
    }
    int byte = 0;
    std::from_chars(text.data() + at + 1, text.data() + at + 3, byte, 16);
    decoded.push_back(static_cast<char>(byte));
    at += 2;
  }
  return decoded;
}

}  // namespace fake
