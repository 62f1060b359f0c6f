#include "model/score_frames.hpp"

namespace llamavisor::detail {

void ScoreFrames::renew(const std::shared_ptr<const GgufInfo>& file) {
  if (file_ == file) return;
  file_ = file;
  frames_.clear();
  native_.reset();
}

std::shared_ptr<scoring::PromptFrame> ScoreFrames::get(
    const std::shared_ptr<const GgufInfo>& file, const PromptFormat& format,
    const std::function<std::shared_ptr<scoring::PromptFrame>()>& make) {
  const std::lock_guard lock(mutex_);
  renew(file);
  for (const auto& frame : frames_) {
    if (frame->format() == format) return frame;
  }
  frames_.push_back(make());
  return frames_.back();
}

std::optional<bool> ScoreFrames::decides_natively(const std::shared_ptr<const GgufInfo>& file) {
  const std::lock_guard lock(mutex_);
  renew(file);
  return native_;
}

void ScoreFrames::set_decides_natively(const std::shared_ptr<const GgufInfo>& file, bool natively) {
  const std::lock_guard lock(mutex_);
  renew(file);
  native_ = natively;
}

}  // namespace llamavisor::detail
