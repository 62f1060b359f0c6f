/// \file
/// One HTTP response from bytes. Sans-IO.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

namespace llamavisor::http {

/// An incremental parser of one HTTP/1.x response: with a Content-Length, chunked, or up to the end
/// of the connection. Interim answers (100 Continue) are passed over. The body is handed on from
/// where it lies, without a copy and without a bound; head, chunk headers and trailers are bounded.
class ResponseReader {
 public:
  struct Handlers {
    std::function<void(int status, std::string_view content_type)> on_head{};  ///< once, first
    std::function<void(std::string_view bytes)> on_body{};                     ///< as it comes
  };

  enum class State {
    open,       ///< more has to come
    complete,   ///< the response is whole; later bytes are ignored
    malformed,  ///< not HTTP, or larger than a bound; see `detail()`
    cut_off,    ///< the connection's end came in the middle
  };

  explicit ResponseReader(Handlers handlers);
  ~ResponseReader();
  ResponseReader(ResponseReader&&) noexcept;
  ResponseReader& operator=(ResponseReader&&) noexcept;

  /// Takes the next bytes. Does nothing unless the state is `open`.
  State feed(std::string_view bytes);

  /// The peer will send no more.
  State end_of_stream();

  State state() const noexcept;

  /// What is wrong, in words, for `malformed` and `cut_off`.
  std::string_view detail() const noexcept;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace llamavisor::http
