#include "model/stream_source.hpp"

#include <utility>

namespace llamavisor::detail {

void StreamSource::set_hooks(Hooks hooks) {
  const std::lock_guard lock(mutex_);
  hooks_ = std::move(hooks);
}

bool StreamSource::push(Token token) {
  if (!keep_tokens_) return true;
  std::unique_lock lock(mutex_);
  if (cancelled_) return true;
  tokens_.push_back(std::move(token));
  if (tokens_.size() >= high_water) paused_ = true;
  const bool full = paused_;
  lock.unlock();  // first: a reader that woke to a held lock would sleep a second time
  changed_.notify_one();
  return !full;
}

void StreamSource::finish(GenerateResult result) {
  Hooks dropped;  // destroyed outside the lock: they may hold the job
  const std::lock_guard lock(mutex_);
  if (!result_) result_ = std::move(result);
  dropped = std::exchange(hooks_, {});
  changed_.notify_all();
}

/// A stream that was carried over a fork() has no runtime thread any more.
bool StreamSource::forked() noexcept {
  if (runtime_->in_own_process()) return false;
  if (!result_) {
    result_.emplace();
    result_->failure = Failure{.code = errc::wrong_process,
                               .message =
                                   "this stream belongs to the process that forked: load a "
                                   "model of your own in the child"};
  }
  return true;
}

std::optional<Token> StreamSource::next() {
  if (forked()) return std::nullopt;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return cancelled_ || !tokens_.empty() || result_; });
  if (cancelled_ || tokens_.empty()) return std::nullopt;
  auto token = std::move(tokens_.front());
  tokens_.pop_front();
  if (paused_ && tokens_.size() <= high_water / 2) {
    paused_ = false;
    if (hooks_.resume) runtime_->post(hooks_.resume);
  }
  return token;
}

void StreamSource::cancel() noexcept {
  if (!runtime_->in_own_process()) return;
  const std::lock_guard lock(mutex_);
  if (cancelled_ || result_) return;
  cancelled_ = true;
  tokens_.clear();
  changed_.notify_all();
  if (hooks_.cancel) runtime_->post(hooks_.cancel);
}

const GenerateResult& StreamSource::result() {
  while (next()) {
  }
  if (forked()) return *result_;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return result_.has_value(); });
  return *result_;
}

}  // namespace llamavisor::detail
