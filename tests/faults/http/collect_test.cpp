#include "http/collect.hpp"

#include "catch.hpp"
#include "probe.hpp"
#include "scripted_server.hpp"

#include <future>
#include <string>

using namespace llamavisor;
using namespace llamavisor::http;
using namespace llamavisor::http::test;

namespace {

Collected collect_from(const std::string& answer, std::size_t max_body) {
  ScriptedServer server(Transport::unix_socket);
  server.serve([&](Peer& peer) {
    peer.read_request();
    peer.write(answer);
    peer.wait_until_closed();
  });
  const auto runtime = Runtime::shared();
  std::promise<Collected> done;
  on_runtime(*runtime, [&] {
    collect(
        runtime, server.endpoint(), {}, [&](Collected all) { done.set_value(std::move(all)); },
        max_body);
  });
  server.finish();
  return done.get_future().get();
}

}  // namespace

TEST_CASE("an answer is collected whole", "[http]") {
  const auto all = collect_from(
      "HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\n"
      "Transfer-Encoding: chunked\r\n\r\n4\r\n{\"a\"\r\n3\r\n:1}\r\n0\r\n\r\n",
      7);
  CHECK(all.end == End::complete);
  CHECK(all.status == 400);
  CHECK(all.content_type == "application/json");
  CHECK(all.body == "{\"a\":1}");
  CHECK(all.detail.empty());
}

TEST_CASE("an answer longer than its bound ends the exchange, once", "[http]") {
  const auto all = collect_from("HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n12345678", 7);
  CHECK(all.end == End::malformed);
  CHECK(all.detail == "the answer is longer than 7 bytes");
  CHECK(all.body.size() <= 7);
}

TEST_CASE("a collected answer that breaks off says so", "[http]") {
  const auto runtime = Runtime::shared();
  ScriptedServer server(Transport::tcp);
  server.serve([&](Peer& peer) {
    peer.read_request();
    peer.write("HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n1234");
  });
  std::promise<Collected> done;
  on_runtime(*runtime, [&] {
    collect(runtime, server.endpoint(), {}, [&](Collected all) { done.set_value(std::move(all)); });
  });
  const auto all = done.get_future().get();
  server.finish();
  CHECK(all.end == End::connection_lost);
  CHECK(all.body == "1234");
  CHECK_FALSE(all.detail.empty());
}

TEST_CASE("an aborted collection calls nothing back", "[http]") {
  const auto runtime = Runtime::shared();
  int calls = 0;
  std::shared_ptr<Exchange> exchange;
  ScriptedServer server(Transport::unix_socket);
  server.serve([&](Peer& peer) {
    peer.read_request();
    on_runtime(*runtime, [&] { exchange->abort(); });
    peer.wait_until_closed();
  });
  on_runtime(*runtime, [&] {
    exchange = collect(runtime, server.endpoint(), {}, [&](Collected) { ++calls; });
  });
  server.finish();
  on_runtime(*runtime, [&] { exchange.reset(); });
  CHECK(calls == 0);
}
