#include "server.hpp"

#include "endpoints.hpp"
#include "json_text.hpp"
#include "model_file.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace fake {
namespace {

constexpr int context_of_the_model = 4096;

std::int64_t now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

int context_of_slot(const Arguments& arguments, const Script& script) {
  auto context = arguments.context > 0 ? arguments.context / std::max(1, arguments.slots)
                                       : context_of_the_model;
  if (script.train_context > 0) context = std::min(context, script.train_context);
  return context;
}

void write_all(std::string_view text) {
  while (!text.empty()) {
    const auto count = ::write(STDERR_FILENO, text.data(), text.size());
    if (count <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

/// Counts a request while it is answered.
class Active {
 public:
  Active(std::atomic<int>& count, std::atomic<std::int64_t>& last) : count_(count), last_(last) {
    ++count_;
  }
  ~Active() {
    last_ = now_ms();
    --count_;
  }

 private:
  std::atomic<int>& count_;
  std::atomic<std::int64_t>& last_;
};

}  // namespace

Server::Server(const Arguments& given, const Script& wanted, const Story& told)
    : arguments(given),
      script(wanted),
      story(told),
      points(wanted, told),
      slots(std::max(1, given.slots)),
      context_(context_of_slot(given, wanted)) {
  if (const char* key = std::getenv("LLAMA_API_KEY")) key_ = key;
}

void Server::log(char level, std::string_view text) const {
  const auto micro = std::chrono::duration_cast<std::chrono::microseconds>(
                         std::chrono::steady_clock::now() - began_)
                         .count();
  char prefix[48];
  std::snprintf(prefix, sizeof prefix, "%d.%02d.%03d.%03d %c ", static_cast<int>(micro / 60000000),
                static_cast<int>(micro / 1000000 % 60), static_cast<int>(micro / 1000 % 1000),
                static_cast<int>(micro % 1000), level);
  write_all((script.old_dialect ? "" : prefix) + std::string(text) + "\n");
}

bool Server::load() {
  log('I', "srv    load_model: loading model '" + arguments.model + "'");
  if (const auto fault = model_fault(arguments.model); !fault.empty()) {
    log('E', fault);
    log('E',
        "llama_model_load: error loading model: llama_model_loader: failed to load model "
        "from " +
            arguments.model);
    log('E', "llama_model_load_from_file_impl: failed to load model");
    log('E', "srv    load_model: failed to load model, '" + arguments.model + "'");
    return false;
  }
  if (!script.flood_in_stream) flood();
  points.reach(Moment::Place::loading);

  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(script.load_ms);
  auto next_word = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() < end || refused_while_loading_ < script.load_503s) {
    if (script.load_chatter_ms > 0 && std::chrono::steady_clock::now() >= next_word) {
      log('I', "load_tensors: loading model tensors, this can take a while...");
      next_word += std::chrono::milliseconds(script.load_chatter_ms);
    }
    pause_briefly();
  }
  if (arguments.device != "none" && arguments.verbosity >= 4) {
    log('I', "load_tensors: offloaded " + script.offloaded + " layers to GPU");
  }
  log('I', script.old_dialect ? "main: model loaded" : "srv  llama_server: model loaded");
  last_activity_ = now_ms();
  loading_ = false;
  return true;
}

std::string Server::alias() const {
  const auto name = arguments.alias.empty() ? arguments.model : arguments.alias;
  return script.wrong_alias ? "somebody-else" : name;
}

bool Server::key_fits(const Request& request) const {
  return key_.empty() || request.header("authorization") == "Bearer " + key_ ||
         request.header("x-api-key") == key_;
}

std::chrono::milliseconds Server::idle_for() const {
  if (loading_ || active_ > 0) return std::chrono::milliseconds(0);
  return std::chrono::milliseconds(now_ms() - last_activity_);
}

void Server::freeze() {
  if (!frozen_.exchange(true)) story.tell("frozen");
}

void Server::freeze_in_decode() {
  begin_decode();
  story.tell("frozen");
}

void Server::pause_briefly() {
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

void Server::flood() const {
  std::string line(99, '#');
  line.push_back('\n');
  for (std::uint64_t left = script.flood_bytes; left > 0;) {
    const auto size = std::min<std::uint64_t>(left, line.size());
    write_all(std::string_view(line).substr(line.size() - size));
    left -= size;
  }
}

void Server::serve(int descriptor) {
  Connection connection(descriptor, script);
  Request request;
  try {
    while (connection.read(request)) {
      const Active active(active_, last_activity_);
      answer(connection, request);
      if (connection.wants_close()) return;
    }
  } catch (const Gone&) {
  }
}

void Server::answer(Connection& connection, const Request& request) {
  if (script.stranger) {
    story.tell("request", {{"path", request.path}, {"body", request.body}});
    return connection.answer(200, "<html><body>It works!</body></html>", "text/html");
  }
  if (loading_) {
    connection.answer(503, outer_error_body(503, "Loading model", "unavailable_error"));
    ++refused_while_loading_;
    return;
  }
  const bool is_public = request.path == "/health" || request.path == "/v1/health";
  if (!is_public && !key_fits(request)) {
    story.tell("request", {{"path", request.path}, {"authorized", false}});
    return connection.answer(401, outer_error_body(401, "Invalid API Key", "authentication_error"));
  }
  answer_endpoint(*this, connection, request);
}

}  // namespace fake
