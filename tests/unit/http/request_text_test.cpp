#include "http/request_text.hpp"

#include <llamavisor/error.hpp>

#include "catch.hpp"

#include <string>

using namespace llamavisor;
using namespace llamavisor::http;

TEST_CASE("a request says whose it is, what it carries, and that it stands alone", "[http]") {
  CHECK(request_head({.method = "GET", .target = "/health"}) ==
        "GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  CHECK(request_head(
            {.method = "POST", .target = "/completion", .body = "{}", .bearer_key = "k3y"}) ==
        "POST /completion HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer k3y\r\n"
        "Content-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n");
  CHECK(request_head({.method = "POST", .target = "/x"}) ==
        "POST /x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
}

TEST_CASE("a key or target cannot smuggle a second line into the request", "[http]") {
  const auto code_of = [](const Request& request) {
    try {
      request_head(request);
    } catch (const Error& error) {
      return error.code();
    }
    return errc::closed;
  };
  for (const std::string bad : {"a\r\nX: y", "a b", "a\n", "\x7f", "\xC3\xBC"}) {
    CAPTURE(bad);
    CHECK(code_of({.method = bad, .target = "/"}) == errc::internal);
    CHECK(code_of({.method = "GET", .target = bad}) == errc::internal);
    CHECK(code_of({.method = "GET", .target = "/", .bearer_key = bad}) == errc::internal);
  }
  CHECK(code_of({.method = "GET", .target = "/", .body = "a\r\nb"}) == errc::closed);
}
