#include "model/prompt_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>

namespace llamavisor::model {

namespace {

constexpr std::string_view white_space = " \t\r\n\f\v";

/// Without the white space at both ends; a text of nothing else as it is, since it may well be a
/// control token.
std::string_view without_ends(std::string_view text) {
  const auto first = text.find_first_not_of(white_space);
  if (first == std::string_view::npos) return text;
  return text.substr(first, text.find_last_not_of(white_space) - first + 1);
}

struct Piece {
  std::string text;
  bool is_data = false;  ///< a message's text, not the template's
};

class ChatPrompt final : public PromptSteps {
 public:
  ChatPrompt(std::vector<Message> messages, bool special_tokens_in_text, bool space_prefix)
      : messages_(std::move(messages)),
        special_tokens_in_text_(special_tokens_in_text),
        space_prefix_(space_prefix) {}

 private:
  void begin() override {
    suspects_.clear();
    pieces_.clear();
    if (special_tokens_in_text_) return render_whole();
    std::string all;
    for (const auto& message : messages_)
      all.append(message.content).append("\n");
    compare(all, [this](bool same) { same ? render_whole() : examine(0); });
  }

  /// Whether a text has the same ids with and without `parse_special`.
  void compare(const std::string& text, std::function<void(bool same)> then) {
    ask(server::ask_tokenize(text, false, true), [this, text, then](std::string_view body) {
      ask(server::ask_tokenize(text, false, false),
          [then, parsed = server::parse_tokens(body)](std::string_view plain) {
            then(server::parse_tokens(plain) == parsed);
          });
    });
  }

  /// As the stock server does it: the whole text at once.
  void render_whole() {
    ask(server::ask_apply_template(messages_), [this](std::string_view body) {
      append(server::parse_prompt(body), true, true, [this] { finish(); });
    });
  }

  /// Which messages hold control tokens?
  void examine(std::size_t index) {
    if (index == messages_.size()) return render_with_placeholders();
    compare(messages_[index].content, [this, index](bool same) {
      if (!same) suspects_.push_back(index);
      examine(index + 1);
    });
  }

  void render_with_placeholders() {
    std::random_device random;
    const auto nonce = fmt::format("{:08x}{:08x}", random(), random());
    auto masked = messages_;
    std::vector<std::pair<std::string, std::string>> masks;  // placeholder, what it stands for
    for (const auto index : suspects_) {
      // White space at the ends stays outside: a template may trim it, as it would trim the text's.
      const std::string_view content = messages_[index].content;
      const auto text = without_ends(content);
      // The letter at the end keeps message 1 from being found in message 10's place.
      const auto placeholder = fmt::format("message{}x{}e", nonce, index);
      masks.emplace_back(placeholder, text);
      masked[index].content.replace(static_cast<std::size_t>(text.data() - content.data()),
                                    text.size(), placeholder);
    }
    ask(server::ask_apply_template(masked), [this, masks](std::string_view body) {
      split(server::parse_prompt(body), masks);
      append_piece(0);
    });
  }

  void split(std::string_view text, const std::vector<std::pair<std::string, std::string>>& masks) {
    std::vector<bool> seen(masks.size(), false);
    while (true) {
      auto nearest = std::string_view::npos;
      std::size_t which = 0;
      for (std::size_t mask = 0; mask < masks.size(); ++mask) {
        const auto at = text.find(masks[mask].first);
        if (at < nearest) {
          nearest = at;
          which = mask;
        }
      }
      pieces_.push_back({.text = std::string(text.substr(0, nearest))});
      if (nearest == std::string_view::npos) break;
      pieces_.push_back({.text = masks[which].second, .is_data = true});
      seen[which] = true;
      text.remove_prefix(nearest + masks[which].first.size());
    }
    if (std::find(seen.begin(), seen.end(), false) != seen.end()) {
      throw Error(errc::invalid_option,
                  "a message holds control tokens, and this model's chat template alters messages, "
                  "so they cannot be kept as plain text: take them out of the message, or set "
                  "GenerateOptions::special_tokens_in_text");
    }
  }

  void append_piece(std::size_t index) {
    if (index == pieces_.size()) return finish();
    const auto& piece = pieces_[index];
    const auto next = [this, index] { append_piece(index + 1); };
    if (index == 0) return append(piece.text, true, true, next);
    if (piece.text.empty()) return next();
    append_inside(piece.text, !piece.is_data, space_prefix_, next);
  }

  std::vector<Message> messages_;
  bool special_tokens_in_text_;
  bool space_prefix_;
  std::vector<std::size_t> suspects_;
  std::vector<Piece> pieces_;
};

}  // namespace

std::unique_ptr<PromptBuilder> from_chat(std::vector<Message> messages, bool special_tokens_in_text,
                                         bool space_prefix) {
  return std::make_unique<ChatPrompt>(std::move(messages), special_tokens_in_text, space_prefix);
}

}  // namespace llamavisor::model
