#include "model/continuation.hpp"

#include "catch.hpp"

#include <string>
#include <vector>

using namespace llamavisor;
using namespace llamavisor::model;

namespace {

/// A deterministic model behind a server that streams as the real one does: text of an incomplete
/// character is held back and its ids are lost; text that may begin a stop string is held back, and
/// its ids come without it.
class ToyServer {
 public:
  /// `device` 0 and 1 go different ways from token `parting` on.
  explicit ToyServer(bool split_characters, std::string stop = {}, int device = 0,
                     int parting = 9999)
      : split_(split_characters), stop_(std::move(stop)), device_(device), parting_(parting) {}

  struct Stream {
    std::vector<server::CompletionChunk> chunks{};
    server::CompletionEnd end{};
  };

  /// Goes on from `known` ids, up to `max_tokens` more.
  Stream run(const std::vector<TokenId>& known, int max_tokens) const {
    Stream stream;
    auto ids = known;
    std::string pending;
    int predicted = 0;
    while (predicted < max_tokens) {
      ids.push_back(next(ids));
      ++predicted;
      pending += bytes(ids.back());
      if (incomplete(pending)) continue;  // the id is lost
      server::CompletionChunk chunk{.ids = {ids.back()}, .tokens_predicted = predicted};
      if (!stop_.empty() && pending.find(stop_) != std::string::npos) {
        chunk.text = pending.substr(0, pending.find(stop_));
        if (!chunk.text.empty()) stream.chunks.push_back(chunk);
        stream.end = {.reason = FinishReason::stop_string,
                      .stop_string = stop_,
                      .tokens_predicted = predicted};
        return stream;
      }
      if (!begins_stop(pending)) chunk.text = std::exchange(pending, {});
      stream.chunks.push_back(chunk);
    }
    stream.end = {.reason = FinishReason::length, .text = pending, .tokens_predicted = predicted};
    return stream;
  }

  /// As the server's tokenizer would do it: one id for each byte.
  static std::vector<TokenId> tokenize(const std::string& text) {
    return {reinterpret_cast<const unsigned char*>(text.data()),
            reinterpret_cast<const unsigned char*>(text.data()) + text.size()};
  }

 private:
  TokenId next(const std::vector<TokenId>& ids) const {
    std::uint32_t hash = 2166136261u;
    for (std::size_t i = ids.size() > 8 ? ids.size() - 8 : 0; i < ids.size(); ++i) {
      hash = (hash ^ static_cast<std::uint32_t>(ids[i])) * 16777619u;
    }
    if (device_ != 0 && static_cast<int>(ids.size()) >= parting_) hash ^= 0x5bd1e995u;
    hash ^= hash >> 13;
    // The first half of "é" must be followed by its second half.
    if (split_ && !ids.empty() && ids.back() == 0xC3) return 0xA9;
    if (split_ && hash % 5 == 0) return 0xC3;
    return static_cast<TokenId>('a' + (hash >> 7) % 6);
  }

  static std::string bytes(TokenId id) { return {static_cast<char>(id)}; }
  static bool incomplete(const std::string& text) {
    return !text.empty() && static_cast<unsigned char>(text.back()) == 0xC3;
  }
  bool begins_stop(const std::string& text) const {
    for (std::size_t length = 1; length < stop_.size(); ++length) {
      if (text.ends_with(stop_.substr(0, length))) return true;
    }
    return false;
  }

  bool split_;
  std::string stop_;
  int device_;
  int parting_;
};

/// What the consumer sees of one answer, over several servers.
struct Seen {
  std::string text{};
  std::vector<TokenId> ids{};
  bool ended = false;
};

/// Runs an answer of `total` tokens whose first server dies before piece `cut`.
Seen run_with_death(const ToyServer& first, const ToyServer& second, GenerateOptions options,
                    std::size_t cut, bool same_device, std::vector<Resume>* resumes = nullptr,
                    Continuation** account = nullptr) {
  static std::unique_ptr<Continuation> kept;
  Seen seen;
  kept = std::make_unique<Continuation>(options, [&](Token&& token) {
    seen.text += token.text;
    if (token.id >= 0) seen.ids.push_back(token.id);
  });
  auto& answer = *kept;
  const std::vector<TokenId> prompt{1, 2, 3};

  const auto serve = [&](const ToyServer& server, Continuation::Plan plan, std::size_t limit) {
    while (true) {
      auto known = prompt;
      known.insert(known.end(), plan.ids.begin(), plan.ids.end());
      const auto tail = ToyServer::tokenize(plan.text);
      known.insert(known.end(), tail.begin(), tail.end());
      auto stream = server.run(known, plan.options.max_tokens);
      std::size_t pieces = 0;
      bool differs = false;
      for (auto& chunk : stream.chunks) {
        if (pieces++ == limit) return false;
        differs = !answer.take(std::move(chunk));
        if (differs) break;
      }
      if (!differs && pieces == limit) return false;
      if (!differs) differs = !answer.finish(stream.end);
      if (!differs) return true;
      auto again = answer.begin_by_text();
      if (!again) return false;
      plan = std::move(*again);
    }
  };

  seen.ended = serve(first, answer.begin(1, true), cut);
  if (!seen.ended) {
    if (answer.complete()) {
      seen.ended = true;
    } else {
      seen.ended = serve(second, answer.begin(2, same_device), std::string::npos);
    }
  }
  if (resumes) *resumes = answer.resumes();
  if (account) *account = kept.get();
  CHECK(answer.text() == seen.text);
  return seen;
}

GenerateOptions greedy(int max_tokens) {
  return {.max_tokens = max_tokens, .temperature = 0.0};
}

}  // namespace

TEST_CASE("by ids: the joined answer equals the unbroken one, after a death at every token",
          "[model][continuation]") {
  const ToyServer server(false);
  const auto whole = run_with_death(server, server, greedy(60), 9999, true);
  REQUIRE(whole.ids.size() == 60);
  for (std::size_t cut = 0; cut <= 60; ++cut) {
    CAPTURE(cut);
    std::vector<Resume> resumes;
    const auto joined = run_with_death(server, server, greedy(60), cut, cut % 2 == 0, &resumes);
    CHECK(joined.ended);
    CHECK(joined.text == whole.text);
    CHECK(joined.ids == whole.ids);
    if (cut < 60) {
      REQUIRE(resumes.size() == 1);
      CHECK(resumes[0].way == (cut == 0 ? ResumeWay::replayed : ResumeWay::by_ids));
      CHECK(resumes[0].text_bytes == cut);
    }
  }
}

TEST_CASE("by regeneration: nothing is doubled or lost where the server left out ids",
          "[model][continuation]") {
  const ToyServer server(true);
  const auto whole = run_with_death(server, server, greedy(80), 9999, true);
  bool regenerated = false;
  for (std::size_t cut = 0; cut < 80; ++cut) {
    CAPTURE(cut);
    std::vector<Resume> resumes;
    const auto joined = run_with_death(server, server, greedy(80), cut, true, &resumes);
    CHECK(joined.ended);
    CHECK(joined.text == whole.text);
    CHECK(joined.ids == whole.ids);
    for (const auto& resume : resumes) {
      regenerated |= resume.way == ResumeWay::by_regeneration;
      CHECK(resume.way != ResumeWay::by_text);
    }
  }
  CHECK(regenerated);
}

TEST_CASE("a stop string across the seam is still seen", "[model][continuation]") {
  for (const bool split : {false, true}) {
    for (const std::string stop : {"ab", "fad", "cc", "bde"}) {
      const ToyServer server(split, stop);
      const auto whole = run_with_death(server, server, greedy(300), 99999, true);
      for (std::size_t cut = 0; cut < 120; ++cut) {
        CAPTURE(split, stop, cut);
        const auto joined = run_with_death(server, server, greedy(300), cut, true);
        CHECK(joined.ended);
        CHECK(joined.text == whole.text);
        CHECK(joined.text.find(stop) == std::string::npos);
      }
    }
  }
}

TEST_CASE("by text: on another device no character is lost or doubled", "[model][continuation]") {
  const ToyServer first(true), second(true, {}, 1, 0);
  const auto whole = run_with_death(first, first, greedy(80), 9999, true);
  bool by_text = false;
  for (std::size_t cut = 1; cut < 60; ++cut) {
    CAPTURE(cut);
    std::vector<Resume> resumes;
    Continuation* account = nullptr;
    const auto joined = run_with_death(first, second, greedy(80), cut, false, &resumes, &account);
    CHECK(joined.ended);
    REQUIRE(resumes.size() == 1);
    const auto seam = resumes[0].text_bytes;
    CHECK(joined.text.substr(0, seam) == whole.text.substr(0, seam));
    CHECK(account->tokens() == 80);  // max_tokens holds over both servers
    if (resumes[0].way == ResumeWay::by_text) {
      by_text = true;
      CHECK_FALSE(account->exact());
      CHECK_FALSE(account->ids_complete());
    }
  }
  CHECK(by_text);
}

TEST_CASE("a regeneration that differs goes on by text, on the same server",
          "[model][continuation]") {
  const ToyServer first(true);
  for (const int parting : {6, 12, 20, 40}) {
    const ToyServer second(true, {}, 1, parting);
    for (std::size_t cut = 10; cut < 50; ++cut) {
      CAPTURE(parting, cut);
      const auto whole = run_with_death(first, first, greedy(80), 9999, true);
      std::vector<Resume> resumes;
      const auto joined = run_with_death(first, second, greedy(80), cut, true, &resumes);
      CHECK(joined.ended);
      REQUIRE(resumes.size() == 1);
      const auto seam = resumes[0].text_bytes;
      CHECK(joined.text.substr(0, seam) == whole.text.substr(0, seam));
    }
  }
}

TEST_CASE("a grammar is regenerated from its start, and never goes on by text",
          "[model][continuation]") {
  auto options = greedy(40);
  options.grammar = "root ::= [a-f]+";
  const ToyServer server(false), other(false, {}, 1, 0);
  std::vector<Resume> resumes;
  const auto whole = run_with_death(server, server, options, 9999, true);
  const auto joined = run_with_death(server, server, options, 17, true, &resumes);
  CHECK(joined.text == whole.text);
  CHECK(resumes.at(0).way == ResumeWay::by_regeneration);
  CHECK_FALSE(run_with_death(server, other, options, 17, true).ended);  // a typed error follows
}

TEST_CASE("an answer whose last event alone is missing is complete", "[model][continuation]") {
  const ToyServer server(false);
  std::vector<Resume> resumes;
  const auto joined = run_with_death(server, server, greedy(30), 30, true, &resumes);
  CHECK(joined.ended);
  CHECK(resumes.empty());
  CHECK(joined.text.size() == 30);
}

TEST_CASE("a resumed seed is a function of the caller's seed and of the resume",
          "[model][continuation]") {
  Continuation answer({.max_tokens = 10, .temperature = 1.0, .seed = 7}, [](Token&&) {});
  CHECK(answer.begin(1, true).options.seed == 7u);
  CHECK(answer.begin(2, true).options.seed == 7u);  // nothing had come: the same run again
  answer.take({.text = "a", .ids = {97}, .tokens_predicted = 1});
  const auto resumed = answer.begin(3, true);
  CHECK(resumed.ids == std::vector<TokenId>{97});
  CHECK(resumed.options.seed == 7u + 2u * 0x9E3779B9u);
  CHECK(resumed.options.max_tokens == 9);
}

TEST_CASE("random sampling with lost ids goes on by text at once", "[model][continuation]") {
  Continuation answer({.max_tokens = 10, .temperature = 1.0}, [](Token&&) {});
  answer.begin(1, true);
  answer.take({.text = "é", .ids = {0xA9}, .tokens_predicted = 2});
  const auto plan = answer.begin(2, true);
  CHECK(answer.resumes().back().way == ResumeWay::by_text);
  CHECK(plan.text == "é");
  CHECK(plan.options.max_tokens == 8);
}
