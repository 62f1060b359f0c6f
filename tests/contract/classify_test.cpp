// Log-probabilities are the stock server's, over the whole vocabulary or among the ids asked for.
#include "setup.hpp"
#include "stock_server.hpp"

#include <algorithm>
#include <catch.hpp>
#include <cmath>
#include <map>
#include <string>
#include <vector>

namespace llamavisor::contract {
namespace {

const std::vector<std::string> prompts{"Is the sky blue? Answer:", "a", "\xE4\xBD\xA0",
                                       "1 + 1 =", "zz"};

/// The ids are raised by 100 to stand out, where a float has steps of 7.6e-6: half a step each way
/// for the option, and as much for those that it is weighed against.
constexpr double score_tolerance = 1.6e-5;

std::map<TokenId, double> by_id(const std::vector<TokenLogprob>& list) {
  std::map<TokenId, double> values;
  for (const auto& entry : list)
    values[entry.id] = entry.logprob;
  return values;
}

/// The log-probabilities of some ids among themselves, from those over the whole vocabulary.
std::vector<double> among(const std::map<TokenId, double>& all, const std::vector<TokenId>& ids) {
  double sum = 0;
  for (const auto id : ids)
    sum += std::exp(all.at(id));
  std::vector<double> result;
  for (const auto id : ids)
    result.push_back(all.at(id) - std::log(sum));
  return result;
}

void best_are_the_stock_servers(const std::filesystem::path& file) {
  const StockServer stock(file);
  const auto model = load_cpu(file);
  const auto steered = stock.tokenize("Z", false, false).back();  // not what the library steers to
  for (const auto& prompt : prompts) {
    INFO("prompt: " << prompt);
    const auto ids = stock.tokenize(prompt, true, true);
    const auto expected = stock.best(ids, 10, steered);
    const auto got = model.classify(prompt, 10);
    CHECK(got.prompt_tokens == static_cast<int>(ids.size()));
    REQUIRE(got.candidates.size() == 10);
    for (std::size_t rank = 0; rank < 10; ++rank) {
      CHECK(std::abs(got.candidates[rank].logprob - expected[rank].logprob) < 1e-5);
      CHECK(got.candidates[rank].id == expected[rank].id);
      CHECK(got.candidates[rank].text == expected[rank].text);
    }
  }
}

void scores_are_the_whole_softmax(const std::filesystem::path& file,
                                  const std::vector<TokenId>& options) {
  const StockServer stock(file);
  const auto model = load_cpu(file);
  const int vocabulary = static_cast<int>(model.info().vocabulary);
  const auto steered = stock.tokenize("Z", false, false).back();
  for (const auto& prompt : prompts) {
    INFO("prompt: " << prompt);
    const auto all = by_id(stock.best(stock.tokenize(prompt, true, true), vocabulary, steered));
    REQUIRE(static_cast<int>(all.size()) == vocabulary);
    const auto expected = among(all, options);
    const auto got = model.classify(prompt, options);
    REQUIRE(got.candidates.size() == options.size());
    double sum = 0;
    for (std::size_t at = 0; at < options.size(); ++at) {
      CHECK(got.candidates[at].id == options[at]);
      CHECK(std::abs(got.candidates[at].logprob - expected[at]) < score_tolerance);
      sum += std::exp(got.candidates[at].logprob);
    }
    CHECK(std::abs(sum - 1) < 1e-6);
  }
}

TEST_CASE("the best next tokens are the stock server's n_probs, for a model of ASCII") {
  best_are_the_stock_servers(ascii_model());
}

TEST_CASE("the best next tokens are told even where the best is only part of a character") {
  best_are_the_stock_servers(babbling_model());
}

TEST_CASE("scores among some ids are the softmax over the whole vocabulary, but for rounding") {
  scores_are_the_whole_softmax(ascii_model(), {'y', 'n'});
  scores_are_the_whole_softmax(ascii_model(), {'q', 'A', '0', ' ', '~'});
}

TEST_CASE("scores are exact where the options are only parts of characters") {
  scores_are_the_whole_softmax(babbling_model(), {0x80, 0xE4, 0xF0, 'a'});
  scores_are_the_whole_softmax(babbling_model(), {0x81, 0x82});
}

TEST_CASE("questions that make no sense are refused before anything is sent") {
  const auto model = load_cpu(ascii_model());
  const std::vector<TokenId> one{65}, twice{65, 66, 65}, negative{65, -1}, unknown{65, 1'000'000};
  CHECK(thrown_by([&] { model.classify("a", 0); }).code == errc::invalid_option);
  CHECK(thrown_by([&] { model.classify("a", 1001); }).code == errc::invalid_option);
  CHECK(thrown_by([&] { model.classify("a", one); }).code == errc::invalid_option);
  CHECK(thrown_by([&] { model.classify("a", twice); }).code == errc::invalid_option);
  CHECK(thrown_by([&] { model.classify("a", negative); }).code == errc::invalid_option);
  CHECK(thrown_by([&] { model.classify("a", unknown); }).code == errc::invalid_option);
  CHECK(model.classify("a", 1).candidates.size() == 1);
}

TEST_CASE("log-probabilities of A, B and A again are the same for both A, to the last bit") {
  auto options = cpu_options();
  options.parallel = 1;
  const auto model = load_model(ascii_model(), options);
  const auto ask = [&](const std::string& prompt) {
    auto asked = greedy(24);
    asked.logprobs = 5;
    asked.cache_prompt = false;
    std::vector<double> values;
    for (const auto& token : model.generate(prompt, asked)) {
      for (const auto& candidate : token.top)
        values.push_back(candidate.logprob);
    }
    return values;
  };
  const auto first = ask("The conversation of A");
  const auto other = ask("Something else, of B, and longer than that");
  const auto again = ask("The conversation of A");
  CHECK(first.size() == 24 * 5);
  CHECK(other != first);
  CHECK(again == first);
}

}  // namespace
}  // namespace llamavisor::contract
