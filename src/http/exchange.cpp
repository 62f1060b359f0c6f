#include "http/exchange.hpp"

#include "http/connect.hpp"
#include "http/request_text.hpp"
#include "http/response_reader.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <utility>

namespace llamavisor::http {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using Protocol = asio::generic::stream_protocol;
using std::chrono::milliseconds;

/// Reads while it writes: a server that refuses a large request answers and closes before it has
/// read all of it, and that answer is the reason that we want.
class SocketExchange final : public Exchange, public std::enable_shared_from_this<SocketExchange> {
 public:
  SocketExchange(std::shared_ptr<Runtime> runtime, const Endpoint& endpoint, const Request& request,
                 Handlers handlers)
      : runtime_(std::move(runtime)),
        endpoint_(endpoint),
        head_(request_head(request)),
        body_(request.body),
        handlers_(std::make_shared<Handlers>(std::move(handlers))),
        socket_(runtime_->context()),
        retry_timer_(runtime_->context()) {}

  void start() {
    asio::post(runtime_->context(), [self = shared_from_this()] { self->connect(); });
  }

  void abort() override {
    if (ended_) return;
    close();
    handlers_.reset();
  }

  void pause_reading() override { paused_ = true; }

  void resume_reading() override {
    if (!std::exchange(paused_, false)) return;
    asio::post(runtime_->context(), [self = shared_from_this()] { self->go_on(); });
  }

 private:
  void connect() {
    if (ended_) return;
    auto connecting = start_connect(endpoint_);
    switch (connecting.state) {
      case Connecting::State::queue_full: return connect_later();
      case Connecting::State::refused: return end(End::refused, connecting.detail);
      case Connecting::State::failed: return end(End::connection_lost, connecting.detail);
      case Connecting::State::connected:
      case Connecting::State::in_progress: break;
    }
    error_code error;
    socket_.assign(Protocol(connecting.family, 0), connecting.fd, error);
    if (error) {
      ::close(connecting.fd);
      return end(End::connection_lost, "cannot watch the connection: " + error.message());
    }
    if (connecting.state == Connecting::State::connected) return connect_ended();
    socket_.async_wait(Protocol::socket::wait_write,
                       [self = shared_from_this()](error_code) { self->connect_ended(); });
  }

  /// There is nothing to wait on that says when a Unix socket's queue has a place again.
  void connect_later() {
    retry_timer_.expires_after(retry_delay_);
    retry_delay_ = std::min(2 * retry_delay_, milliseconds(32));
    retry_timer_.async_wait([self = shared_from_this()](error_code) { self->connect(); });
  }

  void connect_ended() {
    if (ended_) return;
    const auto error = outcome_of_connect(socket_.native_handle());
    if (!error && !connected_to_itself(socket_.native_handle())) return connected();
    if (!error) return end(End::refused, "nobody listens on " + to_string(endpoint_));
    end(End::refused, "cannot connect to " + to_string(endpoint_) + ": " + error.message());
  }

  void connected() {
    write();
    go_on();
  }

  void write() {
    // asio sends with MSG_NOSIGNAL: a peer that has gone is an error here, and no signal.
    const std::array<asio::const_buffer, 2> request{asio::buffer(head_), asio::buffer(body_)};
    asio::async_write(socket_, request, [self = shared_from_this()](error_code error, std::size_t) {
      self->written(error);
    });
  }

  void written(error_code error) {
    std::string().swap(body_);
    // Where the peer has closed, what it sent before is still to be read; reading ends by itself.
    if (ended_ || !error || error == asio::error::broken_pipe ||
        error == asio::error::connection_reset) {
      return;
    }
    end(End::connection_lost, "the request could not be sent: " + error.message());
  }

  /// Hands over what has been read, then reads on. While paused, both wait.
  void go_on() {
    if (ended_ || paused_ || reading_) return;
    if (const auto size = std::exchange(read_size_, 0); size > 0) {
      reader_.feed({buffer_.data(), size});
    } else if (read_error_ == asio::error::eof) {
      reader_.end_of_stream();
    } else if (read_error_) {
      return end(End::connection_lost, "the connection was lost: " + read_error_.message());
    }
    if (ended_) return;
    switch (reader_.state()) {
      case ResponseReader::State::open: return read();
      case ResponseReader::State::complete: return end(End::complete, {});
      case ResponseReader::State::malformed: return end(End::malformed, reader_.detail());
      case ResponseReader::State::cut_off: return end(End::connection_lost, reader_.detail());
    }
  }

  void read() {
    if (paused_) return;
    reading_ = true;
    socket_.async_read_some(asio::buffer(buffer_),
                            [self = shared_from_this()](error_code error, std::size_t size) {
                              self->reading_ = false;
                              self->read_size_ = size;
                              self->read_error_ = error;
                              self->go_on();
                            });
  }

  void take_head(int status, std::string_view content_type) {
    if (ended_) return;
    const auto handlers = handlers_;  // a call-back may abort, and must not lose its own ground
    if (handlers->on_head) handlers->on_head(status, content_type);
  }

  void take_body(std::string_view bytes) {
    if (ended_) return;
    const auto handlers = handlers_;
    if (handlers->on_body) handlers->on_body(bytes);
  }

  void end(End how, std::string_view detail) {
    const auto self = shared_from_this();
    close();
    const auto handlers = std::exchange(handlers_, nullptr);
    if (handlers->on_end) handlers->on_end(how, detail);
  }

  void close() {
    ended_ = true;
    error_code ignored;
    retry_timer_.cancel();
    // Shut down as well: a copy of the descriptor in a child of the host keeps it open.
    if (socket_.is_open()) socket_.shutdown(Protocol::socket::shutdown_both, ignored);
    socket_.close(ignored);
  }

  std::shared_ptr<Runtime> runtime_;  // first, so that it outlives the socket
  Endpoint endpoint_;
  std::string head_;
  std::string body_;
  std::shared_ptr<Handlers> handlers_;
  Protocol::socket socket_;
  asio::steady_timer retry_timer_;
  milliseconds retry_delay_{1};
  ResponseReader reader_{
      {.on_head = [this](int status, std::string_view type) { take_head(status, type); },
       .on_body = [this](std::string_view bytes) { take_body(bytes); }}};
  std::array<char, 16 * 1024> buffer_;
  std::size_t read_size_ = 0;  // read, and not handed over yet
  error_code read_error_;
  bool reading_ = false;
  bool paused_ = false;
  bool ended_ = false;
};

}  // namespace

std::shared_ptr<Exchange> Exchange::start(std::shared_ptr<Runtime> runtime,
                                          const Endpoint& endpoint, const Request& request,
                                          Handlers handlers) {
  auto exchange =
      std::make_shared<SocketExchange>(std::move(runtime), endpoint, request, std::move(handlers));
  exchange->start();
  return exchange;
}

}  // namespace llamavisor::http
