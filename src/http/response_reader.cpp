#include "http/response_reader.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/optional/optional.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace llamavisor::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;

// llama-server's heads are a few hundred bytes. Beast bounds what lies unparsed in one call alone:
// a head of many small fields, each sent by itself, would grow without end.
constexpr std::size_t max_head = 32 * 1024;
constexpr std::size_t max_chunk_header = 32 * 1024;
constexpr int max_interim_answers = 16;
// Asked again with this and one byte more, Beast trips over an assertion of its own (n >= 5).
constexpr std::string_view last_chunk = "0\r\n";
constexpr std::string_view start_of_response = "HTTP/1.";

/// A Beast body that keeps nothing: what is put into it goes straight on.
struct SinkBody {
  using value_type = const std::function<void(std::string_view)>*;

  class reader {
   public:
    template <bool is_request, class Fields>
    reader(beast::http::header<is_request, Fields>&, value_type& sink) : sink_(sink) {}

    void init(const boost::optional<std::uint64_t>&, beast::error_code& error) { error = {}; }

    template <class Buffers>
    std::size_t put(const Buffers& buffers, beast::error_code& error) {
      error = {};
      std::size_t size = 0;
      const auto end = asio::buffer_sequence_end(buffers);
      for (auto it = asio::buffer_sequence_begin(buffers); it != end; ++it) {
        const asio::const_buffer piece(*it);
        if (piece.size() == 0) continue;
        if (*sink_) (*sink_)({static_cast<const char*>(piece.data()), piece.size()});
        size += piece.size();
      }
      return size;
    }

    void finish(beast::error_code& error) { error = {}; }

   private:
    value_type& sink_;
  };
};

using Parser = beast::http::response_parser<SinkBody>;

}  // namespace

class ResponseReader::Impl {
 public:
  explicit Impl(Handlers handlers) : handlers_(std::move(handlers)) { new_parser(); }

  State feed(std::string_view bytes) {
    if (state_ != State::open || bytes.empty()) return state_;
    if (!starts_like_http(bytes)) return fail(State::malformed, "the answer is not HTTP");
    if (rest_.empty()) {
      parse(bytes);
      if (state_ == State::open) rest_.assign(bytes);
    } else {
      rest_.append(bytes);
      if (rest_.size() == 4 && rest_.starts_with(last_chunk)) return state_;
      std::string_view all = rest_;
      parse(all);
      rest_.erase(0, rest_.size() - all.size());
    }
    // What is left is the start of a head's or a chunk header's line.
    if (state_ == State::open && rest_.size() > max_chunk_header) {
      return fail(State::malformed, "a line of the answer's head or of a chunk is too long");
    }
    return state_;
  }

  State end_of_stream() {
    if (state_ != State::open) return state_;
    if (seen_ == 0) return fail(State::cut_off, "the connection ended before the answer");
    if (seen_ < start_of_response.size() || !parser_->got_some()) {
      return fail(State::cut_off, "the connection ended in the answer's head");
    }
    beast::error_code error;
    const bool had_head = parser_->is_header_done();
    parser_->put_eof(error);
    if (!error) return state_ = State::complete;
    return fail(State::cut_off, had_head ? "the connection ended in the answer's body"
                                         : "the connection ended in the answer's head");
  }

  State state() const noexcept { return state_; }
  std::string_view detail() const noexcept { return detail_; }

 private:
  void new_parser() {
    parser_.emplace();
    parser_->get().body() = &handlers_.on_body;
    parser_->header_limit(max_head);
    parser_->body_limit(boost::none);  // the default of 8 MiB ends a long stream
    parser_->eager(false);             // stops after the head: it is reported before the body
    head_size_ = 0;
  }

  /// Beast waits for eight bytes before it looks; a peer that sends "hi" and waits is no HTTP.
  bool starts_like_http(std::string_view bytes) {
    for (; seen_ < start_of_response.size() && !bytes.empty(); bytes.remove_prefix(1)) {
      if (bytes.front() != start_of_response[seen_]) return false;
      ++seen_;
    }
    return true;
  }

  /// Takes off the front what could be used.
  void parse(std::string_view& bytes) {
    while (state_ == State::open && !bytes.empty()) {
      beast::error_code error;
      const bool in_head = !parser_->is_header_done();
      const auto used = parser_->put(asio::buffer(bytes.data(), bytes.size()), error);
      bytes.remove_prefix(used);
      if (in_head) {
        head_size_ += used;
        if (head_size_ > max_head) {
          fail(State::malformed, "the answer's head is too large");
          return;
        }
      }
      if (error && error != beast::http::error::need_more) {
        fail(State::malformed, "the answer is not HTTP: " + error.message());
        return;
      }
      if (in_head && parser_->is_header_done()) {
        if (!take_head()) return;
        if (interim_) {
          new_parser();
          continue;
        }
      }
      if (parser_->is_done()) state_ = State::complete;
      if (error || used == 0) return;
    }
  }

  bool take_head() {
    const auto& head = parser_->get();
    const int status = static_cast<int>(head.result_int());
    interim_ = status / 100 == 1 && status != 101;
    if (interim_) {
      if (++interim_answers_ <= max_interim_answers) return true;
      fail(State::malformed, "the answer has no final status");
      return false;
    }
    if (status < 200) {
      fail(State::malformed, "the answer's status is " + std::to_string(status));
      return false;
    }
    parser_->eager(true);
    if (handlers_.on_head) {
      const auto type = head[beast::http::field::content_type];
      handlers_.on_head(status, {type.data(), type.size()});
    }
    return true;
  }

  State fail(State state, std::string detail) {
    detail_ = std::move(detail);
    return state_ = state;
  }

  Handlers handlers_;
  std::optional<Parser> parser_;
  std::string rest_;  // fed, but of no use before more comes
  std::string detail_;
  std::size_t seen_ = 0;  // bytes of `start_of_response` matched
  std::size_t head_size_ = 0;
  int interim_answers_ = 0;
  bool interim_ = false;
  State state_ = State::open;
};

ResponseReader::ResponseReader(Handlers handlers)
    : impl_(std::make_unique<Impl>(std::move(handlers))) {}
ResponseReader::~ResponseReader() = default;
ResponseReader::ResponseReader(ResponseReader&&) noexcept = default;
ResponseReader& ResponseReader::operator=(ResponseReader&&) noexcept = default;

ResponseReader::State ResponseReader::feed(std::string_view bytes) {
  return impl_->feed(bytes);
}
ResponseReader::State ResponseReader::end_of_stream() {
  return impl_->end_of_stream();
}
ResponseReader::State ResponseReader::state() const noexcept {
  return impl_->state();
}
std::string_view ResponseReader::detail() const noexcept {
  return impl_->detail();
}

}  // namespace llamavisor::http
