#include "catch.hpp"
#include "server/server_call.hpp"

#include <string>

using namespace llamavisor;
using llamavisor::server::require_utf8;

TEST_CASE("valid UTF-8 passes, up to the last code point", "[server]") {
  for (const std::string text : {"", "abc", "é", "模型", "😀", "\xEF\xBF\xBF", "\xF4\x8F\xBF\xBF",
                                 "\xED\x9F\xBF", "\xEE\x80\x80", "\xC2\x80"}) {
    CHECK_NOTHROW(require_utf8(text, "it"));
  }
  CHECK_NOTHROW(require_utf8(std::string_view("a\0b", 3), "it"));
}

TEST_CASE("a text that is no UTF-8 is refused with the byte where it breaks", "[server]") {
  for (const std::string bad :
       {"\xFF", "\x80", "\xC0\x80", "\xC1\xBF", "\xE0\x80\x80", "\xED\xA0\x80", "\xF0\x80\x80\x80",
        "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xE6\xA8", "\xF0\x9F\x98", "\xC3"}) {
    CAPTURE(bad);
    try {
      require_utf8("ab" + bad, "the prompt");
      FAIL("not refused");
    } catch (const Error& error) {
      CHECK(error.code() == errc::invalid_option);
      CHECK(std::string(error.what()).find("the prompt is not UTF-8 at byte 2") !=
            std::string::npos);
    }
  }
}
