#include "completion_run.hpp"

#include "events.hpp"
#include "json_text.hpp"
#include "stop_strings.hpp"
#include "tokenizer.hpp"

#include <algorithm>
#include <thread>

namespace fake {
namespace {

using Clock = Answer::Clock;

/// One prompt's way through the server.
class Completion {
 public:
  Completion(Server& server, Connection& connection, CompletionStream& stream,
             const CompletionRequest& request, std::size_t index, bool faulty)
      : server_(server),
        script_(server.script),
        connection_(connection),
        stream_(stream),
        request_(request),
        prompt_(request.prompts[index]),
        faulty_(faulty),
        gate_(request.stops),
        generation_(server.script, request.sampling, prompt_) {
    answer_.index = index;
    answer_.prompt = prompt_;
  }

  RunResult run() {
    auto slot = server_.slots.acquire(prompt_, request_.id_slot, request_.cache_prompt,
                                      [this] { return connection_.gone(); });
    if (!slot) throw Gone();
    answer_.id_slot = slot->id();
    answer_.cached = slot->cached();
    process_prompt(*slot);
    generate(*slot);
    remember(*slot);
    RunResult result{.tokens = answer_.predicted, .stop_type = answer_.stop_type};
    if (!ended_) result.json = final_event(answer_, request_, server_.alias());
    return result;
  }

 private:
  void reach(Moment::Place place, int count = 0) {
    if (!faulty_) return;
    if (!server_.points.is_awaited(place, count)) return;
    connection_.flush();
    server_.points.reach(place, count, [this] { return connection_.gone(); });
  }

  void check_client() {
    if (connection_.gone()) throw Gone();
    if (request_.stream) stream_.keep_alive();
  }

  void wait_while_frozen() {
    server_.wait_for_loop(false, [this] { check_client(); });
  }

  void pause(std::chrono::microseconds time) {
    if (time.count() <= 0) return;
    constexpr std::chrono::microseconds slice(5000);
    for (const auto end = Clock::now() + time; Clock::now() < end;) {
      std::this_thread::sleep_for(std::min(
          slice, std::chrono::duration_cast<std::chrono::microseconds>(end - Clock::now())));
      if (time > slice) check_client();
    }
  }

  // Like the real one's: not even a client that goes ends it.
  void decode() {
    if (script_.decode_ms == 0 || !faulty_) return;
    server_.begin_decode();
    const auto end = Clock::now() + std::chrono::milliseconds(script_.decode_ms);
    while (Clock::now() < end) {
      if (!script_.decode_computes) Server::pause_briefly();
    }
    server_.end_decode();
  }

  void send_progress(int processed) {
    answer_.now = Clock::now();
    if (!request_.return_progress || !request_.stream) return;
    stream_.event(progress_event(answer_, processed, request_.timings_per_token));
  }

  void process_prompt(Slots::Lease& slot) {
    answer_.prompt_began = Clock::now();
    const auto size = static_cast<int>(prompt_.size());
    const int batch =
        std::max(1, script_.prompt_batch > 0 ? script_.prompt_batch : server_.arguments.batch);
    int processed = answer_.cached;
    send_progress(processed);
    reach(Moment::Place::prompt);
    while (processed < size) {
      wait_while_frozen();
      pause(std::chrono::milliseconds(script_.prompt_delay_ms));
      decode();
      processed = std::min(size, processed + batch);
      slot.progress(processed - answer_.cached, 0);
      send_progress(processed);
    }
    answer_.generation_began = answer_.now = Clock::now();
  }

  /// The script's faults between two tokens. False = the answer goes no further.
  bool may_go_on() {
    const int sent = answer_.predicted;
    reach(Moment::Place::token, sent);
    if (faulty_) {
      if (script_.flood_in_stream && sent == 0) server_.flood();
      if (script_.no_tokens) {
        if (request_.stream) stream_.begin();
        wait_for_client_to_go();
      }
      if (script_.freeze_decode_after >= 0 && sent >= script_.freeze_decode_after) {
        server_.freeze_in_decode();
        wait_for_client_to_go();
      }
      if (script_.freeze_after >= 0 && sent >= script_.freeze_after) server_.freeze();
      if (script_.rst_after == sent) {
        connection_.flush();
        connection_.reset();
        throw Gone();
      }
      if (script_.completion_error_event_after == sent) return fail();
    }
    wait_while_frozen();
    pause(std::chrono::microseconds(script_.token_delay_us));
    if (!request_.stream && sent % 64 == 63) check_client();
    return true;
  }

  [[noreturn]] void wait_for_client_to_go() {
    while (true) {
      check_client();
      Server::pause_briefly();
    }
  }

  bool fail() {
    ended_ = true;
    if (!request_.stream) {
      connection_.answer(500, compute_error_body());
    } else if (script_.old_dialect) {
      const auto inner = compute_error_body().substr(9, compute_error_body().size() - 10);
      stream_.raw("error: " + inner + "\n\n");
      stream_.end();
    } else {
      stream_.event(compute_error_body());
      stream_.end();
    }
    return false;
  }

  void generate(Slots::Lease& slot) {
    while (answer_.stop_type == "none" && may_go_on()) {
      take_token();
      slot.progress(static_cast<int>(prompt_.size()) - answer_.cached, answer_.predicted);
    }
    if (!ended_) reach(Moment::Place::token, answer_.predicted);
  }

  void take_token() {
    const int id = generation_.next();
    const bool is_end = id == eos || id == im_end;
    const auto spelling = id < 256 ? piece(id) : std::string();
    answer_.tokens.push_back(id);
    ++answer_.predicted;
    answer_.now = Clock::now();
    const auto step = gate_.add(spelling, is_end);
    if (!step.silent) send_token(id, step.text);
    decide_end(is_end);
  }

  void send_token(int id, const std::string& text) {
    std::string probability;
    if (request_.n_probs > 0) {
      probability = probability_json(request_, generation_, id, text);
      if (!answer_.probabilities.empty()) answer_.probabilities.push_back(',');
      answer_.probabilities += probability;
    }
    if (!request_.stream) return;
    const bool with_timings = request_.timings_per_token || !gate_.met().empty();
    stream_.event(token_event(answer_, id, text, with_timings, probability));
  }

  void decide_end(bool is_end) {
    const auto limit = request_.n_predict < 0 ? -1 : std::max(1, request_.n_predict);
    const auto length = static_cast<int>(prompt_.size()) + answer_.predicted;
    if (!gate_.met().empty()) {
      answer_.stop_type = "word";
      answer_.stopping_word = gate_.met();
    } else if (is_end) {
      answer_.stop_type = "eos";
    } else if (limit == answer_.predicted) {
      answer_.stop_type = "limit";
    } else if (length >= server_.context()) {
      answer_.stop_type = "limit";
      answer_.truncated = true;
    }
    answer_.text = gate_.text();
  }

  void remember(Slots::Lease& slot) {
    std::vector<int> ids(prompt_);
    ids.insert(ids.end(), answer_.tokens.begin(), answer_.tokens.end());
    slot.remember(std::move(ids));
  }

  Server& server_;
  const Script& script_;
  Connection& connection_;
  CompletionStream& stream_;
  const CompletionRequest& request_;
  const std::vector<int>& prompt_;
  const bool faulty_;
  bool ended_ = false;
  TextGate gate_;
  Generation generation_;
  Answer answer_;
};

}  // namespace

const std::string& compute_error_body() {
  static const auto body = error_body(500, "Compute error.", "server_error");
  return body;
}

RunResult run_completion(Server& server, Connection& connection, CompletionStream& stream,
                         const CompletionRequest& request, std::size_t index, bool faulty) {
  return Completion(server, connection, stream, request, index, faulty).run();
}

}  // namespace fake
