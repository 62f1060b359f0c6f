#include "http/request_text.hpp"

#include <llamavisor/error.hpp>

#include <algorithm>
#include <string_view>

namespace llamavisor::http {
namespace {

bool is_visible_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7f'; });
}

void require_word(std::string_view text, const char* what) {
  if (is_visible_ascii(text)) return;
  throw Error(errc::internal, std::string("an HTTP request's ") + what + " is not one ASCII word");
}

}  // namespace

std::string request_head(const Request& request) {
  require_word(request.method, "method");
  require_word(request.target, "target");
  require_word(request.bearer_key, "key");
  std::string head = request.method + ' ' + request.target + " HTTP/1.1\r\nHost: localhost\r\n";
  if (!request.bearer_key.empty()) head += "Authorization: Bearer " + request.bearer_key + "\r\n";
  if (!request.body.empty()) head += "Content-Type: application/json\r\n";
  if (!request.body.empty() || request.method != "GET") {
    head += "Content-Length: " + std::to_string(request.body.size()) + "\r\n";
  }
  // No X-Conversation-Id, ever: it keeps the server generating after we have gone.
  head += "Connection: close\r\n\r\n";
  return head;
}

}  // namespace llamavisor::http
