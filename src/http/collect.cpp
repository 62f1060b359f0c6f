#include "http/collect.hpp"

#include <string_view>
#include <utility>

namespace llamavisor::http {
namespace {

struct Collecting {
  Collected collected;
  std::function<void(Collected)> on_done;
  std::weak_ptr<Exchange> exchange;  // weak: the exchange owns the handlers that own us

  void end(End how, std::string_view detail) {
    collected.end = how;
    collected.detail = detail;
    on_done(std::move(collected));
  }
};

}  // namespace

std::shared_ptr<Exchange> collect(std::shared_ptr<Runtime> runtime, const Endpoint& endpoint,
                                  const Request& request, std::function<void(Collected)> on_done,
                                  std::size_t max_body) {
  auto state = std::make_shared<Collecting>();
  state->on_done = std::move(on_done);
  Exchange::Handlers handlers;
  handlers.on_head = [state](int status, std::string_view content_type) {
    state->collected.status = status;
    state->collected.content_type = content_type;
  };
  handlers.on_body = [state, max_body](std::string_view bytes) {
    auto& body = state->collected.body;
    if (bytes.size() <= max_body - body.size()) {
      body += bytes;
      return;
    }
    if (const auto exchange = state->exchange.lock()) exchange->abort();
    state->end(End::malformed, "the answer is longer than " + std::to_string(max_body) + " bytes");
  };
  handlers.on_end = [state](End how, std::string_view detail) { state->end(how, detail); };
  auto exchange = Exchange::start(std::move(runtime), endpoint, request, std::move(handlers));
  state->exchange = exchange;
  return exchange;
}

}  // namespace llamavisor::http
