#include "model/prompt_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>

namespace llamavisor::model {

namespace {

/// A text before which SentencePiece's space goes: a newline is a byte token that merges with
/// nothing.
constexpr std::string_view guard = "\n";

constexpr std::string_view white_space = " \t\r\n\f\v";

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
      all.append(message.content).append(guard);
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
      const std::string content = messages_[index].content;
      const auto first = content.find_first_not_of(white_space);
      const auto last = content.find_last_not_of(white_space);
      const auto placeholder = fmt::format("message{}x{}", nonce, index);
      masks.emplace_back(placeholder, content.substr(first, last - first + 1));
      masked[index].content = content.substr(0, first) + placeholder + content.substr(last + 1);
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
    if (space_prefix_) return append_guarded(piece, next);
    append(piece.text, false, !piece.is_data, next);
  }

  /// Without the space that the tokenizer would put first.
  void append_guarded(const Piece& piece, std::function<void()> then) {
    ask(server::ask_tokenize(guard, false, false), [this, piece, then](std::string_view body) {
      const auto before = server::parse_tokens(body);
      ask(server::ask_tokenize(std::string(guard) + piece.text, false, !piece.is_data),
          [this, piece, then, before](std::string_view whole) {
            const auto ids = server::parse_tokens(whole);
            const bool guarded = ids.size() >= before.size() &&
                                 std::equal(before.begin(), before.end(), ids.begin());
            if (!guarded) return append(piece.text, false, !piece.is_data, then);
            ids_.insert(ids_.end(), ids.begin() + static_cast<std::ptrdiff_t>(before.size()),
                        ids.end());
            then();
          });
    });
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
