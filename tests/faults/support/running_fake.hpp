// A fake llama-server that is run directly, without the library.
#pragma once

#include "server_story.hpp"
#include "test_folder.hpp"

#include <boost/json/object.hpp>

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

namespace llamavisor::testing {

/// What came back of a request, until the server ended it.
struct RawAnswer {
  int status = 0;
  std::string head;
  std::string body;                         ///< without chunk framing
  std::vector<boost::json::object> events;  ///< of an event stream
  bool complete = false;                    ///< the body has come to its own end
  bool reset = false;                       ///< by ECONNRESET

  boost::json::object json() const;
};

/// A server on a Unix socket in a folder of its own, killed at the end.
class RunningFake {
 public:
  /// Starts it with these words as FAKE_SERVER.
  explicit RunningFake(std::string_view words = {}, std::vector<std::string> arguments = {});
  ~RunningFake();
  RunningFake(const RunningFake&) = delete;
  RunningFake& operator=(const RunningFake&) = delete;

  /// Until it listens and is loaded, or has ended; false when it has ended.
  bool wait_until_ready();

  RawAnswer request(std::string_view path, std::string_view body = {}) const;

  void send_signal(int signal) const;

  /// Waits for its end: the exit code, or minus the signal.
  int wait_for_end();

  const ServerStory& story() const { return story_; }
  const TestFolder& folder() const { return folder_; }
  const std::filesystem::path& socket() const { return socket_; }
  pid_t pid() const { return pid_; }

 private:
  bool has_ended();

  TestFolder folder_;
  ServerStory story_;
  std::filesystem::path socket_;
  pid_t pid_ = -1;
  int status_ = 0;
  bool ended_ = false;
};

}  // namespace llamavisor::testing
