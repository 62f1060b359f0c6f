#include <llamavisor/token_stream.hpp>

#include "model/stream_source.hpp"

#include <utility>

namespace llamavisor {

TokenStream::TokenStream(std::shared_ptr<detail::StreamSource> source) noexcept
    : source_(std::move(source)) {}

TokenStream::TokenStream(TokenStream&&) noexcept = default;

TokenStream& TokenStream::operator=(TokenStream&& other) noexcept {
  if (this != &other) {
    cancel();
    source_ = std::move(other.source_);
  }
  return *this;
}

TokenStream::~TokenStream() {
  cancel();
}

std::optional<Token> TokenStream::next() {
  return source_ ? source_->next() : std::nullopt;
}

void TokenStream::cancel() noexcept {
  if (source_) source_->cancel();
}

const GenerateResult& TokenStream::result() {
  if (!source_) throw Error(errc::invalid_option, "this TokenStream was moved from");
  return source_->result();
}

const GenerateResult& TokenStream::result_or_throw() {
  const auto& ended = result();
  if (ended.failure) throw Error(*ended.failure);
  return ended;
}

}  // namespace llamavisor
