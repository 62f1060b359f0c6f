// Connections that never come about, or end too soon.
#include "catch.hpp"
#include "http/connect.hpp"
#include "http/exchange.hpp"
#include "probe.hpp"
#include "scripted_server.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

using namespace llamavisor;
using namespace llamavisor::http;
using namespace llamavisor::http::test;

namespace {

Transport any_transport() {
  return GENERATE(Transport::unix_socket, Transport::tcp);
}

void check_refused(const Endpoint& endpoint, const std::string& why) {
  Probe probe;
  probe.start(endpoint);
  probe.wait_for_end();
  CAPTURE(probe.detail());
  CHECK(probe.end() == End::refused);
  CHECK(probe.detail().find(why) != std::string::npos);
  CHECK(probe.heads() == 0);
}

/// What a server that writes this and goes leaves of an exchange.
void lose_connection_after(Probe& probe, const std::string& bytes) {
  ScriptedServer server(any_transport());
  server.serve([&](Peer& peer) {
    peer.read_request();
    peer.write(bytes);
  });
  probe.start(server.endpoint());
  probe.wait_for_end();
  server.finish();
}

}  // namespace

TEST_CASE("where nobody listens the exchange is refused", "[http]") {
  const auto folder = make_folder();
  check_refused({.unix_path = folder + "/none.sock"}, "No such file");
  check_refused({.unix_path = folder + "/none/none.sock"}, "No such file");
  std::ofstream(folder + "/file.sock") << "no socket";
  check_refused({.unix_path = folder + "/file.sock"}, "refused");
  std::filesystem::remove_all(folder);
  check_refused({}, "no address");
}

TEST_CASE("a stale socket and a closed port are refused", "[http]") {
  ScriptedServer server(any_transport());
  const Endpoint endpoint = server.endpoint();
  server.stop_listening();
  check_refused(endpoint, "refused");
}

TEST_CASE("a socket's path of 107 bytes works, one of 108 is refused in words", "[http]") {
  const auto folder = make_folder();
  const auto longest = folder + '/' + std::string(107 - folder.size() - 1, 'x');
  check_refused({.unix_path = longest}, "No such file");
  check_refused({.unix_path = longest + 'x'}, "has 108 bytes, and at most 107 are possible");
  check_refused({.unix_path = std::string("a\0b", 3)}, "NUL");
  std::filesystem::remove_all(folder);
}

TEST_CASE("a socket that has met itself is known", "[http]") {
  // TCP does so by chance where nobody listens on a port of the ephemeral range.
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  socklen_t size = sizeof address;
  REQUIRE(::bind(fd, generic, size) == 0);
  CHECK_FALSE(connected_to_itself(fd));
  REQUIRE(::getsockname(fd, generic, &size) == 0);
  REQUIRE(::connect(fd, generic, size) == 0);
  CHECK(connected_to_itself(fd));
  ::close(fd);
}

TEST_CASE("a full queue of connections delays the exchange and does not end it", "[http]") {
  // A Unix socket says EAGAIN here, which asio takes for a connection that is made.
  ScriptedServer server(Transport::unix_socket);
  server.fill_queue();
  Probe probe;
  probe.start(server.endpoint());
  probe.settle();
  CHECK(probe.ends() == 0);
  server.serve([](Peer& peer) {
    peer.read_request();
    peer.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  });
  probe.wait_for_end();
  server.finish();
  CHECK(probe.end() == End::complete);
  CHECK(probe.body() == "ok");
}

TEST_CASE("an exchange that waits for a place in the queue can be aborted", "[http]") {
  ScriptedServer server(Transport::unix_socket);
  server.fill_queue();
  Probe probe;
  probe.start(server.endpoint());
  probe.settle();
  probe.call([](Exchange& exchange) { exchange.abort(); });
  probe.settle();
  CHECK(probe.ends() == 0);
}

TEST_CASE("a connection that ends before the head is lost", "[http]") {
  const std::string sent = GENERATE("", "HTTP/1.1 200", "HTTP/1.1 200 OK\r\nContent-Type: text/");
  CAPTURE(sent);
  Probe probe;
  lose_connection_after(probe, sent);
  CHECK(probe.end() == End::connection_lost);
  CHECK_FALSE(probe.detail().empty());
  CHECK(probe.heads() == 0);
}

TEST_CASE("a connection that ends in the body is lost, with what came before", "[http]") {
  const std::string framing =
      GENERATE("Content-Length: 100\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n64\r\n",
               "Transfer-Encoding: chunked\r\n\r\n5\r\nparti\r\n2\r\nal\r\n");
  CAPTURE(framing);
  const bool in_framing = framing.size() > 40;
  Probe probe;
  lose_connection_after(probe, "HTTP/1.1 200 OK\r\n" + framing + (in_framing ? "" : "partial"));
  CHECK(probe.end() == End::connection_lost);
  CHECK(probe.detail().find("in the answer's body") != std::string::npos);
  CHECK(probe.status() == 200);
  CHECK(probe.body() == "partial");
}

TEST_CASE("a reset connection is lost, and never a complete answer", "[http]") {
  // The body would end with the connection: a reset is no such end.
  ScriptedServer server(Transport::tcp);
  Probe probe;
  server.serve([&](Peer& peer) {
    peer.read_request();
    peer.write("HTTP/1.1 200 OK\r\n\r\npartial");
    probe.wait_for_body(7);
    peer.reset();
  });
  probe.start(server.endpoint());
  probe.wait_for_end();
  server.finish();
  CHECK(probe.end() == End::connection_lost);
  CHECK(probe.body() == "partial");
}

TEST_CASE("a server that dies with the request unread is a lost connection", "[http]") {
  ScriptedServer server(any_transport());
  Probe probe;
  server.serve([](Peer&) {});
  probe.start(server.endpoint(),
              {.method = "POST", .target = "/", .body = std::string(1 << 20, 'x')});
  probe.wait_for_end();
  server.finish();
  CHECK(probe.end() == End::connection_lost);
  CHECK(probe.heads() == 0);
}

TEST_CASE("what is no HTTP is malformed at once, though the peer stays", "[http]") {
  const std::string sent = GENERATE("hi", "SSH-2.0-OpenSSH_9.2\r\n", "HTTP/1.1 abc\r\n\r\n",
                                    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n");
  CAPTURE(sent);
  ScriptedServer server(any_transport());
  server.serve([&](Peer& peer) {
    peer.read_request();
    peer.write(sent);
    peer.wait_until_closed();
  });
  Probe probe;
  probe.start(server.endpoint());
  probe.wait_for_end();
  server.finish();
  CHECK(probe.end() == End::malformed);
  CHECK_FALSE(probe.detail().empty());
}

TEST_CASE("a head without end is malformed, and the connection is closed", "[http]") {
  ScriptedServer server(any_transport());
  server.serve([](Peer& peer) {
    peer.read_request();
    peer.write("HTTP/1.1 200 OK\r\n");
    while (peer.write("X-Field: 0123456789\r\n")) {
    }
  });
  Probe probe;
  probe.start(server.endpoint());
  probe.wait_for_end();
  server.finish();
  CHECK(probe.end() == End::malformed);
}

TEST_CASE("a peer that closes while we write is an error, and no SIGPIPE", "[http]") {
  struct sigaction before {};
  REQUIRE(::sigaction(SIGPIPE, nullptr, &before) == 0);
  REQUIRE(before.sa_handler == SIG_DFL);  // a signal would end this test
  ScriptedServer server(any_transport());
  Probe probe;
  server.serve([](Peer& peer) { peer.read_some(); });
  probe.start(server.endpoint(),
              {.method = "POST", .target = "/", .body = std::string(32u << 20, 'x')});
  probe.wait_for_end();
  server.finish();
  CHECK(probe.end() == End::connection_lost);
  struct sigaction after {};
  REQUIRE(::sigaction(SIGPIPE, nullptr, &after) == 0);
  CHECK(after.sa_handler == SIG_DFL);
  CHECK(after.sa_flags == before.sa_flags);
}
