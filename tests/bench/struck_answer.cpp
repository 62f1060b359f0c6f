#include "struck_answer.hpp"

#include "plain_http.hpp"
#include "processes.hpp"

#include <signal.h>

#include <thread>
#include <utility>

namespace llamavisor::bench {

namespace {

test::HttpAnswer ask(pid_t server, const std::string& target) {
  return test::http_request(test::argument_of(server, "--host"), "GET", target, {},
                            test::environment_of(server, "LLAMA_API_KEY"));
}

bool reads_a_prompt(pid_t server) {
  return ask(server, "/slots").body.find("\"is_processing\":true") != std::string::npos;
}

}  // namespace

bool is_loaded(pid_t server) {
  return ask(server, "/health").status == 200;
}

StruckAnswer::StruckAnswer(const Fault& fault, std::mt19937& random)
    : fault_(fault),
      at_(1 + static_cast<int>(random() % (struck_tokens - 10))),
      after_(random() % 5000) {}

void StruckAnswer::read(TokenStream stream, pid_t server) {
  if (fault_.in_prompt) {
    test::wait_until("the prompt is read", [&] { return reads_a_prompt(server); });
    strike(server);
  }
  int count = 0;
  for (const auto& token : stream) {
    text += token.text;
    if (!token.text.empty()) note_token();
    if (++count != at_ || fault_.in_prompt) continue;
    std::this_thread::sleep_for(after_);
    strike(server);
  }
  result = stream.result();
}

void StruckAnswer::strike(pid_t server) {
  last_ = struck_ = Clock::now();
  struck_at = std::chrono::system_clock::now();
  if (fault_.signal != 0) {
    ::kill(server, fault_.signal);
  } else {
    frozen_.emplace(server);
  }
}

/// What was on its way comes yet: the token that the fault delayed ends the longest wait after it.
void StruckAnswer::note_token() {
  if (!last_) return;
  const auto now = Clock::now();
  const auto wait = now - *std::exchange(last_, now);
  if (wait <= longest_) return;
  longest_ = wait;
  gap = std::chrono::duration<double, std::milli>(now - struck_).count();
}

}  // namespace llamavisor::bench
