#include "script_source.hpp"

#include "words.hpp"

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

namespace fake {
namespace {

std::string read_file(const std::string& name) {
  std::ifstream file(name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::string pack_words(const std::string& folder) {
  return read_file(folder + "/fake_server.txt");
}

/// "2" is the second, "2+" the second and all later ones; "" is all.
bool is_meant(std::string_view which, int number) {
  if (which.empty()) return true;
  const bool onwards = which.ends_with('+');
  if (onwards) which.remove_suffix(1);
  const auto wanted = to_int(which);
  return onwards ? number >= wanted : number == wanted;
}

/// Takes the conditions off the front of a word: "gpu:die=...", "g2:", "cpu1:", "g2+:",
/// "generation=2:".
bool take_conditions(std::string& word, const Role& role, const Incarnation& incarnation) {
  bool meant = true;
  while (true) {
    std::string_view text = word;
    if (text.starts_with("generation=")) text.remove_prefix(text.find('='));
    const auto colon = text.find(':');
    if (colon == std::string_view::npos) return meant;
    const auto condition = text.substr(0, colon);
    if (condition.starts_with('=')) {
      meant = meant && is_meant(condition.substr(1), incarnation.number);
    } else if (condition.find('=') != std::string_view::npos) {
      return meant;  // that colon belongs to a value
    } else if (condition.starts_with("gpu")) {
      meant = meant && role.on_gpu && is_meant(condition.substr(3), incarnation.number_of_role);
    } else if (condition.starts_with("cpu")) {
      meant = meant && !role.on_gpu && is_meant(condition.substr(3), incarnation.number_of_role);
    } else if (condition.starts_with("g")) {
      meant = meant && is_meant(condition.substr(1), incarnation.number);
    } else {
      not_understood(word);
    }
    word = std::string(text.substr(colon + 1));
  }
}

}  // namespace

std::string read_flavour(const std::string& folder) {
  for (const auto& word : split_words(pack_words(folder))) {
    if (word.starts_with("flavour=")) return word.substr(8);
  }
  return "";
}

Script read_script(const Role& role, const Incarnation& incarnation) {
  auto text = pack_words(role.folder);
  if (const auto file = environment("FAKE_SERVER_FILE"); !file.empty()) {
    if (::access(file.c_str(), R_OK) != 0) not_understood(file);
    text += "\n" + read_file(file);
  }
  text += "\n" + environment("FAKE_SERVER");

  std::vector<std::string> chosen;
  for (auto word : split_words(text)) {
    if (word.starts_with("flavour=")) continue;
    if (take_conditions(word, role, incarnation)) chosen.push_back(word);
  }
  Script script;
  apply_words(script, chosen);
  return script;
}

}  // namespace fake
