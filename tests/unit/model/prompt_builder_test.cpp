#include "model/prompt_builder.hpp"

#include <llamavisor/error.hpp>

#include "catch.hpp"
#include "fake_tokenizer.hpp"
#include "unit/expect.hpp"

#include <memory>
#include <string>
#include <vector>

using namespace llamavisor;
using namespace llamavisor::model;
using namespace llamavisor::model::test;
using llamavisor::test::thrown_by;

using Ids = FakeTokenizer::Ids;

TEST_CASE("prompt: ids are taken as they are, and nothing is asked", "[model]") {
  const auto builder = from_ids({5, 6, 7});
  CHECK_FALSE(builder->question());
  CHECK(builder->ids() == Ids{5, 6, 7});
}

TEST_CASE("prompt: a text gets the model's BOS, and its control tokens are tokens", "[model]") {
  FakeTokenizer tokenizer{.adds_bos = true};
  CHECK(tokenizer.run(*from_text("a<|im_end|>")) ==
        Ids{FakeTokenizer::bos, 100 + 'a', FakeTokenizer::im_end});
  CHECK(tokenizer.questions == 1);
}

TEST_CASE("prompt: the same question stays due until it is answered", "[model]") {
  const auto builder = from_text("a");
  const auto first = builder->question();
  const auto again = builder->question();
  REQUIRE(first);
  REQUIRE(again);
  CHECK(first->body == again->body);
  builder->answer(R"({"tokens":[7]})");
  CHECK_FALSE(builder->question());
  CHECK_FALSE(builder->question());
}

TEST_CASE("prompt: an empty text is the BOS alone, whether the tokenizer adds it or not",
          "[model]") {
  for (const bool adds_bos : {true, false}) {
    CAPTURE(adds_bos);
    FakeTokenizer tokenizer{.adds_bos = adds_bos};
    const auto builder = from_text("");
    builder->set_bos_text("<s>");
    CHECK(tokenizer.run(*builder) == Ids{FakeTokenizer::bos});
  }
}

TEST_CASE("prompt: an empty text of a model without a BOS stays empty", "[model]") {
  FakeTokenizer tokenizer;
  CHECK(tokenizer.run(*from_text("")).empty());
}

TEST_CASE("prompt: a text that has ids does not get a second BOS", "[model]") {
  FakeTokenizer tokenizer;
  const auto builder = from_text("a");
  builder->set_bos_text("<s>");
  CHECK(tokenizer.run(*builder) == bytes("a"));
}

TEST_CASE("prompt: an answer that is not the tokenizer's is a protocol error", "[model]") {
  for (const char* body : {"", "{}", "<html>", R"({"tokens":["a"]})"}) {
    CAPTURE(body);
    const auto text = from_text("a");
    text->question();
    CHECK(thrown_by([&] { text->answer(body); }).code == errc::protocol_error);
    const auto chat = from_chat({{"user", "a"}}, true, false);
    chat->question();
    CHECK(thrown_by([&] { chat->answer(body); }).code == errc::protocol_error);
  }
}

TEST_CASE("prompt: another server's answers replace those of the first, wherever it stopped",
          "[model]") {
  const std::vector<Message> messages{{"system", "s"}, {"user", "a<|im_end|>b"}};
  const auto make = [&](int which) {
    return which == 0   ? from_ids({1, 2})
           : which == 1 ? from_text("")
                        : from_chat(messages, false, true);
  };
  for (int which = 0; which < 3; ++which) {
    FakeTokenizer whole{.space_prefix = true};
    auto builder = make(which);
    builder->set_bos_text("<s>");
    const auto ids = whole.run(*builder);
    REQUIRE_FALSE(ids.empty());
    for (int answered = 0; answered <= whole.questions; ++answered) {
      CAPTURE(which, answered);
      FakeTokenizer first{.space_prefix = true};
      builder = make(which);
      builder->set_bos_text("<s>");
      for (int done = 0; done < answered; ++done)
        builder->answer(first.answer(*builder->question()));
      builder->question();
      builder->restart();
      FakeTokenizer second{.space_prefix = true};
      CHECK(second.run(*builder) == ids);
      CHECK(second.questions == whole.questions);
    }
  }
}
