#include "stop_strings.hpp"

#include "tokenizer.hpp"

#include <algorithm>

namespace fake {
namespace {

/// Whether a text ends in a beginning of a stop string.
bool ends_in_beginning(std::string_view text, std::string_view stop) {
  for (auto length = std::min(text.size(), stop.size()); length > 0; --length) {
    if (text.ends_with(stop.substr(0, length))) return true;
  }
  return false;
}

}  // namespace

TextGate::Step TextGate::add(std::string_view piece, bool last) {
  text_ += piece;
  if (incomplete_tail(text_) > 0) return {.silent = true};

  auto unsent = std::string_view(text_).substr(sent_);
  std::size_t first = std::string_view::npos;
  for (const auto& stop : stops_) {
    const auto at = unsent.find(stop);
    if (stop.empty() || at >= first) continue;
    first = at;
    met_ = stop;
  }
  if (!met_.empty()) {
    text_.resize(sent_ + first);
    unsent = std::string_view(text_).substr(sent_);
  } else if (!last && std::any_of(stops_.begin(), stops_.end(), [&](const std::string& stop) {
               return ends_in_beginning(unsent, stop);
             })) {
    return {};
  }
  Step step{.text = std::string(unsent)};
  sent_ = text_.size();
  return step;
}

}  // namespace fake
