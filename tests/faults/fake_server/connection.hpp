// One connection of a client: requests in, answers out, byte for byte as the real server.
#pragma once

#include "script.hpp"

#include <map>
#include <string>
#include <string_view>

namespace fake {

/// The client is gone, or the connection is.
struct Gone {};

struct Request {
  std::string method;
  std::string path;                            ///< without the query
  std::string query;                           ///< after the '?'
  std::map<std::string, std::string> headers;  ///< names in lower case
  std::string body;

  std::string header(const std::string& name) const;
};

class Connection {
 public:
  Connection(int descriptor, const Script& script);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// False at the end of the connection, or of what can be understood.
  bool read(Request& request);

  /// Whether the client has closed its side. Cheap enough to be asked often.
  bool gone() const;

  /// Throws `Gone`.
  void answer(int status, std::string_view body,
              std::string_view content_type = "application/json; charset=utf-8");

  /// An answer of unknown length: the head, then chunks.
  void begin_stream();
  void chunk(std::string_view data);
  void end_stream();
  void flush();

  /// From now on the connection's end is a reset: the peer sees ECONNRESET.
  void reset();

  bool wants_close() const { return wants_close_; }

 private:
  bool fill();
  void take_unread_byte();
  void send(std::string_view bytes);
  void send_piece(std::string_view bytes);
  void wait_until_read() const;

  int descriptor_;
  const Script& script_;
  std::string buffer_;
  std::string glued_;
  int chunks_glued_ = 0;
  std::size_t next_cut_ = 0;
  bool wants_close_ = false;
  bool byte_left_unread_ = false;
  bool resetting_ = false;
};

}  // namespace fake
