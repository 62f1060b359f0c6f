// HTTP without the library: one question over a Unix socket, answered whole.
#pragma once

#include <string>

namespace llamavisor::test {

struct HttpAnswer {
  int status = 0;  ///< 0 where there was no answer
  std::string body;
};

/// `key` empty = none is sent.
HttpAnswer http_request(const std::string& socket_path, const std::string& method,
                        const std::string& target, const std::string& body = {},
                        const std::string& key = {});

}  // namespace llamavisor::test
