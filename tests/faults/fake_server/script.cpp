#include "script.hpp"

#include "words.hpp"

#include <functional>
#include <map>

namespace fake {
namespace {

using Words = std::vector<std::string>;

/// token:5:exit:3 -> the moment, leaving {exit, 3}.
Moment take_moment(Words& parts) {
  using Place = Moment::Place;
  static const std::map<std::string, Place> places{
      {"before_listen", Place::before_listen},
      {"loading", Place::loading},
      {"prompt", Place::prompt},
      {"first_token", Place::token},
      {"token", Place::token},
      {"after_last_event", Place::after_last_event},
      {"idle", Place::idle},
      {"term", Place::term},
  };
  const auto name = take_front(parts);
  const auto found = places.find(name);
  if (found == places.end()) not_understood(name);
  Moment moment{found->second, 0};
  if (name == "token" || name == "idle") moment.count = to_int(take_front(parts));
  return moment;
}

Death to_death(std::string_view text) {
  auto parts = split(text, ':');
  Death death{take_moment(parts)};
  const auto how = take_front(parts);
  if (how != "exit" && how != "signal") not_understood(how);
  death.by_signal = how == "signal";
  const auto value = take_front(parts);
  death.value = death.by_signal ? to_signal(value) : to_int(value);
  return death;
}

Hold to_hold(std::string_view text) {
  auto parts = split(text, ':');
  Hold hold{take_moment(parts), {}};
  hold.file = join(parts, ':');
  if (hold.file.empty()) not_understood(text);
  return hold;
}

void set_cuts(Script& script, std::string_view text) {
  script.cut_every = text.starts_with("every:");
  if (script.cut_every) text.remove_prefix(6);
  for (const auto& part : split(text, ',')) {
    script.cuts.push_back(static_cast<std::size_t>(to_int(part)));
  }
}

void set_flood(Script& script, std::string_view text) {
  const auto at = text.find('@');
  script.flood_bytes = static_cast<std::uint64_t>(to_long(text.substr(0, at)));
  const auto when = at == std::string_view::npos ? "load" : text.substr(at + 1);
  if (when != "load" && when != "stream") not_understood(text);
  script.flood_in_stream = when == "stream";
}

Script::Text to_text(std::string_view name) {
  if (name == "ascii") return Script::Text::ascii;
  if (name == "utf8") return Script::Text::utf8;
  if (name == "broken") return Script::Text::broken;
  not_understood(name);
}

Script::DoubleFork to_double_fork(std::string_view name) {
  if (name.empty() || name == "wait") return Script::DoubleFork::parent_waits;
  if (name == "exit") return Script::DoubleFork::parent_exits;
  not_understood(name);
}

Script::DeviceList to_device_list(std::string_view name) {
  if (name == "fail") return Script::DeviceList::fails;
  if (name == "hang") return Script::DeviceList::hangs;
  not_understood(name);
}

/// "after:5", or "5".
int after(std::string_view text) {
  return to_int(text.starts_with("after:") ? text.substr(6) : text);
}

using Setter = std::function<void(Script&, std::string_view)>;

Setter number(int Script::*member) {
  return [=](Script& script, std::string_view text) { script.*member = to_int(text); };
}

Setter count(int Script::*member) {
  return [=](Script& script, std::string_view text) { script.*member = after(text); };
}

Setter flag(bool Script::*member) {
  return [=](Script& script, std::string_view text) {
    if (!text.empty()) not_understood(text);
    script.*member = true;
  };
}

Setter words(std::string Script::*member) {
  return [=](Script& script, std::string_view text) { script.*member = text; };
}

Setter exactly(bool Script::*member, std::string_view wanted) {
  return [=](Script& script, std::string_view text) {
    if (text != wanted) not_understood(text);
    script.*member = true;
  };
}

const std::map<std::string, Setter, std::less<>>& setters() {
  static const std::map<std::string, Setter, std::less<>> table{
      {"load_ms", number(&Script::load_ms)},
      {"load_503s", number(&Script::load_503s)},
      {"load_chatter_ms", number(&Script::load_chatter_ms)},
      {"die", [](Script& s, std::string_view text) { s.deaths.push_back(to_death(text)); }},
      {"hold", [](Script& s, std::string_view text) { s.holds.push_back(to_hold(text)); }},
      {"text_on_stderr", words(&Script::last_words)},
      {"ignore_term", flag(&Script::ignore_term)},
      {"double_fork",
       [](Script& s, std::string_view text) { s.double_fork = to_double_fork(text); }},
      {"setsid_grandchild", flag(&Script::setsid_grandchild)},
      {"keep_pipes", flag(&Script::keep_pipes)},
      {"flood_stderr", set_flood},
      {"wrong_alias", flag(&Script::wrong_alias)},
      {"stranger", flag(&Script::stranger)},
      {"no_unix", flag(&Script::no_unix)},
      {"old_dialect", flag(&Script::old_dialect)},
      {"dialect", exactly(&Script::old_dialect, "old")},
      {"list_devices",
       [](Script& s, std::string_view text) { s.device_list = to_device_list(text); }},
      {"devices", words(&Script::devices)},
      {"offloaded", words(&Script::offloaded)},
      {"train_context", number(&Script::train_context)},
      {"health_delay_ms", number(&Script::health_delay_ms)},
      {"health", exactly(&Script::health_lies, "lying")},
      {"slots_silent", flag(&Script::slots_silent)},
      {"adapters", exactly(&Script::adapters_at_once, "at_once")},
      {"skip", number(&Script::skip)},
      {"completion_500", count(&Script::completion_500_after)},
      {"completion_error_event", count(&Script::completion_error_event_after)},
      {"rst", count(&Script::rst_after)},
      {"freeze_compute", count(&Script::freeze_after)},
      {"freeze_decode", count(&Script::freeze_decode_after)},
      {"no_tokens", flag(&Script::no_tokens)},
      {"never_close", flag(&Script::never_close)},
      {"end_without_final", flag(&Script::end_without_final)},
      {"token_delay_us", number(&Script::token_delay_us)},
      {"prompt_delay_ms", number(&Script::prompt_delay_ms)},
      {"decode_ms", number(&Script::decode_ms)},
      {"decode_computes", flag(&Script::decode_computes)},
      {"prompt_batch", number(&Script::prompt_batch)},
      {"ping_ms", number(&Script::ping_ms)},
      {"cut", set_cuts},
      {"glue", number(&Script::glue)},
      {"content_type", words(&Script::content_type)},
      {"text", [](Script& s, std::string_view text) { s.text = to_text(text); }},
      {"tokens", number(&Script::tokens)},
      {"total", number(&Script::total)},
      {"sampling", flag(&Script::sampling)},
      {"voice", number(&Script::voice)},
      {"voice_from", number(&Script::voice_from)},
  };
  return table;
}

}  // namespace

void apply_words(Script& script, const std::vector<std::string>& words) {
  for (const auto& word : words) {
    const auto equals = word.find('=');
    const auto setter = setters().find(word.substr(0, equals));
    if (setter == setters().end()) not_understood(word);
    setter->second(script, equals == std::string::npos
                               ? std::string()
                               : percent_decoded(std::string_view(word).substr(equals + 1)));
  }
}

}  // namespace fake
