/// \file
/// What a model's scores need to be found out only once.
#pragma once

#include <llamavisor/gguf.hpp>

#include "scoring/prompt_frame.hpp"

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace llamavisor::detail {

/// Of the model's file as it is now: a reload forgets all. Any thread.
class ScoreFrames {
 public:
  /// Made by `make` where it is not there.
  std::shared_ptr<scoring::PromptFrame> get(
      const std::shared_ptr<const GgufInfo>& file, const PromptFormat& format,
      const std::function<std::shared_ptr<scoring::PromptFrame>()>& make);

  /// Whether the model decides by itself; empty = not known.
  std::optional<bool> decides_natively(const std::shared_ptr<const GgufInfo>& file);
  void set_decides_natively(const std::shared_ptr<const GgufInfo>& file, bool natively);

 private:
  void renew(const std::shared_ptr<const GgufInfo>& file);

  std::mutex mutex_;
  std::shared_ptr<const GgufInfo> file_;
  std::vector<std::shared_ptr<scoring::PromptFrame>> frames_;
  std::optional<bool> native_{};
};

}  // namespace llamavisor::detail
