#include "server/completion_stream.hpp"

#include "server/json.hpp"

#include <array>

namespace llamavisor::server {

namespace json = boost::json;

class CompletionStream::Impl {
 public:
  explicit Impl(Handlers handlers)
      : handlers_(std::move(handlers)),
        sse_(
            {.on_event = [this](const http::SseEvent& event) { take(event.data); },
             .on_comment = {},
             .on_error_field = [this](std::string_view value) { fail(parse_error(500, value)); }}) {
  }

  void feed(std::string_view bytes) {
    if (finished_) return;
    sse_.feed(bytes);
    if (sse_.failed()) fail_protocol("an event beyond all bounds");
  }

  bool finished() const noexcept { return finished_; }

 private:
  void take(std::string_view data) {
    if (finished_ || data == "[DONE]") return;
    // A fresh one each time: a resource that is only released keeps doubling what it takes next.
    json::monotonic_resource memory(buffer_.data(), buffer_.size());
    parser_.reset(&memory);
    interpret(data);
    parser_.reset();  // drops what a failed parse left in the memory, before that goes
  }

  void interpret(std::string_view data) {
    json::error_code error;
    parser_.write(data, error);
    if (error) return fail_protocol(fmt::format("JSON, {}", error.message()));
    const auto value = parser_.release();
    if (find(value, "error")) return fail(parse_error(500, data));
    if (const auto* progress = find(value, "prompt_progress")) return report(*progress);
    const auto* content = find(value, "content");
    if (!content || !content->is_string()) return fail_protocol("an event without \"content\"");
    if (bool_or(find(value, "stop"), false)) return end(value);
    chunk(value);
  }

  void report(const json::value& progress) const {
    handlers_.on_progress({.total = int_or(find(progress, "total"), 0),
                           .cached = int_or(find(progress, "cache"), 0),
                           .processed = int_or(find(progress, "processed"), 0)});
  }

  void chunk(const json::value& value) const {
    CompletionChunk chunk;
    chunk.text = text_or(find(value, "content"), "");
    chunk.tokens_predicted = int_or(find(value, "tokens_predicted"), 0);
    if (const auto* tokens = find(value, "tokens"); tokens && tokens->is_array()) {
      for (const auto& token : tokens->get_array())
        chunk.ids.push_back(int_or(&token, -1));
    }
    if (const auto* list = find(value, "completion_probabilities"); list && list->is_array()) {
      for (const auto& entry : list->get_array())
        take_probability(entry, chunk);
    }
    handlers_.on_chunk(std::move(chunk));
  }

  static void take_probability(const json::value& entry, CompletionChunk& chunk) {
    chunk.logprob = number_or(find(entry, "logprob"), 0);
    chunk.top.clear();
    const auto* top = find(entry, "top_logprobs");
    if (!top || !top->is_array()) return;
    for (const auto& candidate : top->get_array()) {
      chunk.top.push_back({.id = int_or(find(candidate, "id"), -1),
                           .text = std::string(text_or(find(candidate, "token"), "")),
                           .logprob = number_or(find(candidate, "logprob"), 0)});
    }
  }

  void end(const json::value& value) {
    CompletionEnd end;
    const auto type = text_or(find(value, "stop_type"), "none");
    end.reason = type == "limit"  ? FinishReason::length
                 : type == "word" ? FinishReason::stop_string
                                  : FinishReason::stop;
    end.stop_string = text_or(find(value, "stopping_word"), "");
    end.text = text_or(find(value, "content"), "");
    end.tokens_predicted = int_or(find(value, "tokens_predicted"), 0);
    end.tokens_evaluated = int_or(find(value, "tokens_evaluated"), 0);
    if (const auto* timings = find(value, "timings")) {
      end.cached_tokens = int_or(find(*timings, "cache_n"), 0);
      end.prompt_ms = number_or(find(*timings, "prompt_ms"), 0);
      end.generate_ms = number_or(find(*timings, "predicted_ms"), 0);
    }
    finished_ = true;
    handlers_.on_end(std::move(end));
  }

  void fail(const ServerError& error) {
    if (finished_) return;
    finished_ = true;
    handlers_.on_error(to_failure(error, Phase::generation));
  }

  void fail_protocol(std::string_view what) {
    if (finished_) return;
    finished_ = true;
    try {
      throw_protocol_error(what);
    } catch (const Error& error) {
      handlers_.on_error(Failure(error.failure()));
    }
  }

  static json::parse_options bounded() {
    json::parse_options options;
    options.max_depth = 64;
    return options;
  }

  Handlers handlers_;
  http::SseParser sse_;
  std::array<unsigned char, 16 * 1024> buffer_;  // reused: most events need no allocation
  json::parser parser_{{}, bounded()};
  bool finished_ = false;
};

CompletionStream::CompletionStream(Handlers handlers)
    : impl_(std::make_unique<Impl>(std::move(handlers))) {}
CompletionStream::~CompletionStream() = default;
void CompletionStream::feed(std::string_view bytes) {
  impl_->feed(bytes);
}
bool CompletionStream::finished() const noexcept {
  return impl_->finished();
}

}  // namespace llamavisor::server
