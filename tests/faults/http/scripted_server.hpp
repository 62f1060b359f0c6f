// A server that does exactly what its script says, byte by byte.
#pragma once

#include "http/exchange.hpp"

#include <cstddef>
#include <exception>
#include <functional>
#include <string>
#include <string_view>
#include <thread>

namespace llamavisor::http::test {

enum class Transport { unix_socket, tcp };

/// The server's side of one connection. Each wait has a hang guard and throws when it is reached.
class Peer {
 public:
  explicit Peer(int fd) : fd_(fd) {}
  ~Peer() { close(); }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  std::string read_request();          ///< head and body
  std::string read_some();             ///< at least one byte; empty at the end of the connection
  bool write(std::string_view bytes);  ///< false where the client has gone
  bool write_byte_by_byte(std::string_view bytes);
  std::size_t fill(std::string_view pattern);  ///< writes until nothing fits; returns the bytes
  bool writable_now() const;
  void wait_until_closed();  ///< by the client
  void close();
  void reset();  ///< RST (TCP)

 private:
  int fd_;
};

/// Listens from its construction on. The script runs on a thread of its own, once for the one
/// connection that is served.
class ScriptedServer {
 public:
  using Script = std::function<void(Peer&)>;

  explicit ScriptedServer(Transport transport);
  ~ScriptedServer();
  ScriptedServer(const ScriptedServer&) = delete;
  ScriptedServer& operator=(const ScriptedServer&) = delete;

  const Endpoint& endpoint() const { return endpoint_; }

  void serve(Script script);

  /// Waits for the script's end, and throws what it threw.
  void finish();

  /// Fills the queue of connections that wait to be accepted, with connections that are closed
  /// again as soon as they are accepted.
  void fill_queue();

  void stop_listening();

 private:
  int accept_client();

  Endpoint endpoint_;
  int listener_ = -1;
  int queued_ = 0;
  std::string folder_;
  std::thread thread_;
  std::exception_ptr error_;
};

/// A folder for sockets, removed by hand.
std::string make_folder();

}  // namespace llamavisor::http::test
