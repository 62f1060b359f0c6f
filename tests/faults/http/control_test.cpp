// Pausing, aborting and dropping an exchange.
#include "catch.hpp"
#include "http/exchange.hpp"
#include "probe.hpp"
#include "scripted_server.hpp"

#include <fcntl.h>

#include <filesystem>
#include <future>
#include <memory>
#include <string>

using namespace llamavisor;
using namespace llamavisor::http;
using namespace llamavisor::http::test;

namespace {

const std::string endless_head = "HTTP/1.1 200 OK\r\n\r\n";

Transport any_transport() {
  return GENERATE(Transport::unix_socket, Transport::tcp);
}

std::string repeated(std::string_view pattern, std::size_t size) {
  std::string text;
  text.reserve(size);
  while (text.size() < size)
    text += pattern.substr(0, size - text.size());
  return text;
}

struct Sockets {
  int open = 0;
  int inheritable = 0;  ///< by a child of this process
};

Sockets count_sockets() {
  Sockets count;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const auto target = std::filesystem::read_symlink(entry.path(), gone);
    if (gone || target.string().rfind("socket:", 0) != 0) continue;
    const int flags = ::fcntl(std::stoi(entry.path().filename()), F_GETFD);
    if (flags >= 0) ++count.open;
    if (flags >= 0 && (flags & FD_CLOEXEC) == 0) ++count.inheritable;
  }
  return count;
}

}  // namespace

TEST_CASE("a paused exchange leaves the bytes in the socket, and the server waits", "[http]") {
  const std::string pattern = "0123456789abcdef";
  std::promise<void> full;
  std::size_t sent = 0;
  std::size_t received_while_paused = 0;
  ScriptedServer server(any_transport());
  Probe probe;
  server.serve([&](Peer& peer) {
    peer.read_request();
    peer.write(endless_head);
    probe.wait_for_head();
    probe.call([](Exchange& exchange) { exchange.pause_reading(); });
    sent = peer.fill(pattern);
    probe.settle();
    received_while_paused = probe.body().size();
    full.set_value();
    const auto rest = repeated(pattern, (4u << 20) - sent % pattern.size());
    const auto text = pattern.substr(sent % pattern.size()) + rest;
    peer.write(text);
    sent += text.size();
  });
  probe.start(server.endpoint());
  full.get_future().wait();
  CHECK(probe.ends() == 0);
  probe.call([](Exchange& exchange) { exchange.resume_reading(); });
  probe.wait_for_end();
  server.finish();
  CHECK(received_while_paused == 0);
  CHECK(probe.end() == End::complete);
  CHECK((probe.body() == repeated(pattern, sent)));
}

TEST_CASE("an end that comes while paused waits behind the bytes before it", "[http]") {
  ScriptedServer server(any_transport());
  Probe probe;
  server.serve([&](Peer& peer) {
    peer.read_request();
    peer.write(endless_head);
    probe.wait_for_head();
    probe.call([](Exchange& exchange) { exchange.pause_reading(); });
    peer.write("late");
  });
  probe.start(server.endpoint());
  server.finish();
  probe.settle();
  CHECK(probe.body().empty());
  CHECK(probe.ends() == 0);
  probe.call([](Exchange& exchange) { exchange.resume_reading(); });
  probe.wait_for_end();
  CHECK(probe.body() == "late");
  CHECK(probe.end() == End::complete);
}

TEST_CASE("pausing at every piece and taking up again loses nothing", "[http]") {
  const auto text = repeated("0123456789abcdef-", 3u << 20);
  ScriptedServer server(any_transport());
  server.serve([&](Peer& peer) {
    peer.read_request();
    peer.write(endless_head);
    peer.write(text);
  });
  Probe* self = nullptr;
  int pieces = 0;
  Probe probe({.on_body = [&](Exchange& exchange) {
    exchange.pause_reading();
    if (++pieces % 3 == 0) {
      exchange.resume_reading();  // at once
    } else {
      self->runtime().post([&exchange] { exchange.resume_reading(); });  // a little later
    }
  }});
  self = &probe;
  probe.start(server.endpoint());
  probe.wait_for_end();
  server.finish();
  CHECK(pieces > 100);
  CHECK(probe.end() == End::complete);
  CHECK((probe.body() == text));
}

TEST_CASE("abort closes at once, and nothing is called back any more", "[http]") {
  const auto paused = GENERATE(false, true);
  ScriptedServer server(any_transport());
  Probe probe;
  server.serve([&](Peer& peer) {
    peer.read_request();
    peer.write(endless_head + "some");
    probe.wait_for_body(4);
    probe.call([&](Exchange& exchange) {
      if (paused) exchange.pause_reading();
      exchange.abort();
      exchange.abort();
      exchange.resume_reading();
    });
    peer.wait_until_closed();
  });
  probe.start(server.endpoint());
  server.finish();
  probe.settle();
  CHECK(probe.ends() == 0);
  CHECK(probe.body() == "some");
}

TEST_CASE("abort in a call-back is the last thing that is called back", "[http]") {
  const std::string where = GENERATE("head", "body");
  CAPTURE(where);
  ScriptedServer server(any_transport());
  server.serve([&](Peer& peer) {
    peer.read_request();
    peer.write(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n1\r\nb\r\n0\r\n\r\n");
    peer.wait_until_closed();
  });
  // What the handlers own must live until the one that aborts has returned.
  const auto owned = std::make_shared<std::string>("owned");
  std::string seen;
  const auto abort = [&seen, owned](Exchange& exchange) {
    exchange.abort();
    seen += *owned;
  };
  Probe probe(where == "head" ? Probe::Hooks{.on_head = abort} : Probe::Hooks{.on_body = abort});
  probe.start(server.endpoint());
  server.finish();
  probe.settle();
  CHECK(seen == "owned");
  CHECK(probe.ends() == 0);
  CHECK(probe.body() == (where == "head" ? "" : "a"));
}

TEST_CASE("abort right after start connects to nobody and calls nothing back", "[http]") {
  ScriptedServer server(any_transport());
  const auto runtime = Runtime::shared();
  int calls = 0;
  on_runtime(*runtime, [&] {
    const auto exchange = Exchange::start(runtime, server.endpoint(), {},
                                          {.on_head = [&](int, std::string_view) { ++calls; },
                                           .on_body = [&](std::string_view) { ++calls; },
                                           .on_end = [&](End, std::string_view) { ++calls; }});
    exchange->abort();
  });
  for (int i = 0; i < 50; ++i)
    on_runtime(*runtime, [] {});
  CHECK(calls == 0);
}

TEST_CASE("aborting one of many exchanges in the end of another is safe", "[http]") {
  ScriptedServer server(any_transport());
  server.serve([](Peer& peer) {
    peer.read_request();
    peer.write("HTTP/1.1 204 No Content\r\n\r\n");
  });
  Probe waiting;
  ScriptedServer silent(Transport::unix_socket);
  silent.serve([](Peer& peer) { peer.wait_until_closed(); });
  waiting.start(silent.endpoint());
  std::promise<void> aborted;
  Probe probe({.on_end = [&](Exchange& exchange) {
    exchange.abort();
    exchange.resume_reading();
    waiting.call_here([](Exchange& other) { other.abort(); });
    aborted.set_value();
  }});
  probe.start(server.endpoint());
  aborted.get_future().wait();
  server.finish();
  silent.finish();
  CHECK(probe.ends() == 1);
  CHECK(waiting.ends() == 0);
}

TEST_CASE("an exchange whose handle was dropped goes on", "[http]") {
  ScriptedServer server(any_transport());
  server.serve([](Peer& peer) {
    peer.read_request();
    peer.write("HTTP/1.1 204 No Content\r\n\r\n");
  });
  const auto runtime = Runtime::shared();
  std::promise<End> ended;
  on_runtime(*runtime, [&] {
    Exchange::start(runtime, server.endpoint(), {},
                    {.on_head = {}, .on_body = {}, .on_end = [&](End end, std::string_view) {
                       ended.set_value(end);
                     }});
  });
  CHECK(ended.get_future().get() == End::complete);
  server.finish();
}

TEST_CASE("a child of the host does not inherit the connection", "[http]") {
  // It would keep the server generating after we have closed our end.
  ScriptedServer server(any_transport());
  Probe probe;
  int inheritable = -1;
  server.serve([&](Peer& peer) {
    peer.read_request();
    inheritable = count_sockets().inheritable;
    peer.write("HTTP/1.1 204 No Content\r\n\r\n");
  });
  const int before = count_sockets().inheritable;
  probe.start(server.endpoint());
  probe.wait_for_end();
  server.finish();
  CHECK(inheritable == before);
}

TEST_CASE("a thousand exchanges leave no socket behind", "[http]") {
  const auto folder = make_folder();
  const int before = count_sockets().open;
  for (int i = 0; i < 1000; ++i) {
    Probe probe;
    probe.start({.unix_path = folder + "/none.sock"});
    probe.wait_for_end();
  }
  for (int i = 0; i < 50; ++i) {
    ScriptedServer server(i % 2 == 0 ? Transport::unix_socket : Transport::tcp);
    server.serve([](Peer& peer) { peer.read_request(); });
    Probe probe;
    probe.start(server.endpoint());
    if (i % 3 != 0) probe.wait_for_end();
    if (i % 3 == 0) server.finish();
  }
  CHECK(count_sockets().open == before);
  std::filesystem::remove_all(folder);
}
