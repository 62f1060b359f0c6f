#include "fake_tokenizer.hpp"

#include <boost/json.hpp>

#include <array>
#include <stdexcept>
#include <utility>

namespace llamavisor::model::test {

namespace json = boost::json;

namespace {

constexpr std::array<std::pair<std::string_view, TokenId>, 4> controls{{
    {"<s>", FakeTokenizer::bos},
    {"<|im_start|>", FakeTokenizer::im_start},
    {"<|im_end|>", FakeTokenizer::im_end},
    {"\t", FakeTokenizer::control_tab},
}};

std::string text_of(const json::value& value) {
  return json::value_to<std::string>(value);
}

}  // namespace

FakeTokenizer::Ids bytes(std::string_view text) {
  FakeTokenizer::Ids ids;
  for (const char byte : text)
    ids.push_back(100 + static_cast<unsigned char>(byte));
  return ids;
}

FakeTokenizer::Ids FakeTokenizer::tokenize(std::string_view text, bool add_special,
                                           bool parse_special) const {
  Ids ids;
  if (add_special && adds_bos) ids.push_back(bos);
  bool at_start = true;
  while (!text.empty()) {
    bool found = false;
    for (const auto& [word, id] : controls) {
      if (!parse_special || !text.starts_with(word)) continue;
      ids.push_back(id);
      text.remove_prefix(word.size());
      found = at_start = true;
      break;
    }
    if (found) continue;
    if (at_start && space_prefix) ids.push_back(space_mark);
    at_start = false;
    if (merges_newline && text.starts_with("\nx")) {
      ids.push_back(merged);
      text.remove_prefix(2);
      continue;
    }
    ids.push_back(bytes(text.substr(0, 1))[0]);
    text.remove_prefix(1);
  }
  return ids;
}

std::string FakeTokenizer::render(const std::vector<Message>& messages) const {
  std::string text;
  for (const auto& message : messages)
    text += "<|im_start|>" + message.role + "\n" + content(message) + "<|im_end|>\n";
  return text + "<|im_start|>assistant\n";
}

std::string FakeTokenizer::answer(const server::ServerCall& question) {
  ++questions;
  const auto body = json::parse(question.body);
  if (question.target == "/tokenize") {
    const auto text = text_of(body.at("content"));
    contents.push_back(text);
    const auto ids =
        tokenize(text, body.at("add_special").as_bool(), body.at("parse_special").as_bool());
    return json::serialize(json::object{{"tokens", json::array(ids.begin(), ids.end())}});
  }
  if (question.target != "/apply-template") throw std::logic_error("an odd question");
  std::vector<Message> messages;
  for (const auto& message : body.at("messages").as_array()) {
    messages.push_back({text_of(message.at("role")), text_of(message.at("content"))});
  }
  return json::serialize(json::object{{"prompt", render(messages)}});
}

FakeTokenizer::Ids FakeTokenizer::run(PromptBuilder& builder) {
  while (const auto question = builder.question())
    builder.answer(answer(*question));
  return builder.ids();
}

}  // namespace llamavisor::model::test
