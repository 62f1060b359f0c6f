#include <llamavisor/callback.hpp>
#include <llamavisor/event.hpp>

#include "catch.hpp"

#include <functional>
#include <memory>
#include <string>

using namespace llamavisor;

namespace {

using Length = Callback<std::size_t(const std::string&)>;

std::size_t length(const std::string& text) {
  return text.size();
}

}  // namespace

TEST_CASE("lambdas, functions and std::functions can be called back", "[public]") {
  CHECK(Length([](const std::string& text) { return text.size(); })("four") == 4);
  CHECK(Length(length)("four") == 4);
  CHECK(Length(&length)("four") == 4);
  CHECK(Length(std::function<std::size_t(const std::string&)>(length))("four") == 4);
}

TEST_CASE("a callback of nothing is empty", "[public]") {
  std::size_t (*no_function)(const std::string&) = nullptr;
  CHECK_FALSE(Length());
  CHECK_FALSE(Length(nullptr));
  CHECK_FALSE(Length(no_function));
  CHECK_FALSE(Length(std::function<std::size_t(const std::string&)>()));
  CHECK(Length(length));
  Length emptied = length;
  emptied = nullptr;
  CHECK_FALSE(emptied);
}

TEST_CASE("copies of a callback share what is called", "[public]") {
  const Callback<int()> first = [count = 0]() mutable { return ++count; };
  const auto second = first;
  CHECK(first() == 1);
  CHECK(second() == 2);
  CHECK(first() == 3);
}

TEST_CASE("a callback may own what can only be moved, and lets it go at its end", "[public]") {
  const auto watched = std::make_shared<int>(7);
  {
    Callback<int()> callback = [owned = std::make_unique<std::shared_ptr<int>>(watched)] {
      return **owned;
    };
    CHECK(callback() == 7);
    CHECK(watched.use_count() == 2);
  }
  CHECK(watched.use_count() == 1);
}

TEST_CASE("what a callback is not asked for is dropped, and nothing is copied", "[public]") {
  int calls = 0;
  const Callback<void(std::unique_ptr<int>)> callback = [&](std::unique_ptr<int> value) {
    calls += *value;
    return "nobody reads this";
  };
  callback(std::make_unique<int>(3));
  CHECK(calls == 3);
}

TEST_CASE("what cannot be called is no callback", "[public]") {
  CHECK_FALSE(std::is_constructible_v<Length, int>);
  CHECK_FALSE(std::is_constructible_v<Length, std::size_t (*)(int*)>);
  CHECK_FALSE(std::is_constructible_v<EventHandler, void (*)(Event&)>);
}
