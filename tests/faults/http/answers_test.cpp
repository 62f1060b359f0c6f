// Answers that are right, however they are cut and framed.
#include "catch.hpp"
#include "http/exchange.hpp"
#include "probe.hpp"
#include "scripted_server.hpp"

#include <cstdlib>
#include <string>

using namespace llamavisor;
using namespace llamavisor::http;
using namespace llamavisor::http::test;

namespace {

const std::string event_stream_head =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";

Transport any_transport() {
  return GENERATE(Transport::unix_socket, Transport::tcp);
}

/// Runs one exchange with a server that answers so, then waits for the client to close.
void exchange_with(Probe& probe, const std::string& answer, bool cut_everywhere = false) {
  ScriptedServer server(any_transport());
  server.serve([&](Peer& peer) {
    peer.read_request();
    if (cut_everywhere) {
      peer.write_byte_by_byte(answer);
    } else {
      peer.write(answer);
    }
    peer.wait_until_closed();
  });
  probe.start(server.endpoint());
  probe.wait_for_end();
  server.finish();
}

}  // namespace

TEST_CASE("a whole answer ends the exchange though the server keeps the connection", "[http]") {
  Probe probe;
  exchange_with(probe,
                "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\n"
                "Content-Length: 2\r\nConnection: keep-alive\r\n\r\n{}");
  CHECK(probe.end() == End::complete);
  CHECK(probe.detail().empty());
  CHECK(probe.status() == 503);
  CHECK(probe.content_type() == "application/json");
  CHECK(probe.body() == "{}");
  CHECK(probe.heads() == 1);
  CHECK(probe.ends() == 1);
}

TEST_CASE("a chunked answer with extensions and trailers comes through byte by byte", "[http]") {
  Probe probe;
  exchange_with(
      probe, event_stream_head + "6;a=b\r\ndata: \r\n3\r\nx\n\n\r\n0;last\r\nX-Trailer: 1\r\n\r\n",
      true);
  CHECK(probe.end() == End::complete);
  CHECK(probe.content_type() == "text/event-stream");
  CHECK(probe.body() == "data: x\n\n");
}

TEST_CASE("100 Continue is passed over", "[http]") {
  Probe probe;
  exchange_with(
      probe, "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", true);
  CHECK(probe.end() == End::complete);
  CHECK(probe.status() == 200);
  CHECK(probe.heads() == 1);
  CHECK(probe.body() == "ok");
}

TEST_CASE("204 and 304 end without a body", "[http]") {
  const auto status = GENERATE(204, 304);
  Probe probe;
  exchange_with(probe, "HTTP/1.1 " + std::to_string(status) + " X\r\nContent-Length: 9\r\n\r\n");
  CHECK(probe.end() == End::complete);
  CHECK(probe.status() == status);
  CHECK(probe.body().empty());
}

TEST_CASE("an answer without a length ends with the connection", "[http]") {
  ScriptedServer server(any_transport());
  server.serve([](Peer& peer) {
    peer.read_request();
    peer.write("HTTP/1.1 200 OK\r\n\r\nup to the end");
  });
  Probe probe;
  probe.start(server.endpoint());
  probe.wait_for_end();
  server.finish();
  CHECK(probe.end() == End::complete);
  CHECK(probe.body() == "up to the end");
}

TEST_CASE("the server reads exactly the request that was meant", "[http]") {
  std::string seen;
  ScriptedServer server(any_transport());
  server.serve([&](Peer& peer) {
    seen = peer.read_request();
    peer.write("HTTP/1.1 204 No Content\r\n\r\n");
  });
  Probe probe;
  probe.start(server.endpoint(), {.method = "POST",
                                  .target = "/completion?x=1",
                                  .body = "{\"prompt\":\"\\u00fc\"}",
                                  .bearer_key = "0123abc"});
  probe.wait_for_end();
  server.finish();
  CHECK(seen ==
        "POST /completion?x=1 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer 0123abc\r\n"
        "Content-Type: application/json\r\nContent-Length: 19\r\nConnection: close\r\n\r\n"
        "{\"prompt\":\"\\u00fc\"}");
}

TEST_CASE("a request larger than any socket's buffer arrives whole", "[http]") {
  std::string body(8u << 20, '\0');
  for (std::size_t i = 0; i < body.size(); ++i)
    body[i] = static_cast<char>('a' + i % 23);
  std::string seen;
  ScriptedServer server(any_transport());
  server.serve([&](Peer& peer) {
    seen = peer.read_request();
    peer.write("HTTP/1.1 204 No Content\r\n\r\n");
  });
  Probe probe;
  probe.start(server.endpoint(), {.method = "POST", .target = "/", .body = body});
  probe.wait_for_end();
  server.finish();
  CHECK(probe.end() == End::complete);
  CHECK((seen.size() > body.size() && seen.substr(seen.size() - body.size()) == body));
}

TEST_CASE("a server that answers before it has read the request is heard", "[http]") {
  // It refuses a large prompt and closes: the answer says why, a broken pipe does not.
  ScriptedServer server(any_transport());
  server.serve([](Peer& peer) {
    peer.read_some();
    peer.write("HTTP/1.1 413 Too Large\r\nContent-Length: 4\r\n\r\nlong");
  });
  Probe probe;
  probe.start(server.endpoint(),
              {.method = "POST", .target = "/", .body = std::string(16u << 20, 'x')});
  probe.wait_for_end();
  server.finish();
  CHECK(probe.end() == End::complete);
  CHECK(probe.status() == 413);
  CHECK(probe.body() == "long");
}

TEST_CASE("a proxy in the environment has no effect", "[http]") {
  for (const char* name : {"http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"}) {
    ::setenv(name, "http://127.0.0.1:1", 1);
  }
  Probe probe;
  exchange_with(probe, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  for (const char* name : {"http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"})
    ::unsetenv(name);
  CHECK(probe.end() == End::complete);
  CHECK(probe.body() == "ok");
}
