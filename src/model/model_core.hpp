/// \file
/// What the handles of one model share.
#pragma once

#include <llamavisor/gguf.hpp>
#include <llamavisor/text_model.hpp>

#include "model/prompt_builder.hpp"
#include "model/score_frames.hpp"
#include "model/stream_source.hpp"
#include "scoring/prompt_frame.hpp"
#include "scoring/score_job.hpp"
#include "server/launch.hpp"
#include "server/server_call.hpp"
#include "supervisor/supervisor.hpp"

#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>

namespace llamavisor::detail {

/// The bridge between the callers' threads and the runtime thread. Any thread; closes the model
/// when it goes.
class ModelCore {
 public:
  ModelCore(std::shared_ptr<Runtime> runtime, supervisor::Settings settings);
  ~ModelCore();

  /// Starts a server and waits until it is ready. Throws.
  void load(const std::stop_token& stop) { load(nullptr, stop); }
  /// The same with a new one, on the files as they are now.
  void reload(const std::stop_token& stop);
  void close() noexcept;

  /// Checks the options and starts an answer. `on_end` is called on the runtime thread;
  /// `keep_tokens` false: only the result is wanted.
  std::shared_ptr<StreamSource> start(std::unique_ptr<model::PromptBuilder> prompt,
                                      const GenerateOptions& options, bool keep_tokens = true,
                                      std::function<void()> on_end = {});

  /// Asks a question and waits for the answer's body. Throws.
  std::string ask(server::ServerCall call, bool needs_slot = false);

  /// The most probable next tokens. Throws.
  Classification best_tokens(std::span<const TokenId> prompt, int best);

  /// Answers a checked case. Throws.
  Decision decide(const DecisionCase& asked, const DecideOptions& options);

  /// Scores checked options. Throws.
  OptionScores score(std::string_view prompt, std::span<const std::string> options);

  /// A prompt builder of a conversation, checked.
  std::unique_ptr<model::PromptBuilder> chat_prompt(std::span<const Message> messages,
                                                    const GenerateOptions& options) const;

  /// What the file said when it was loaded last.
  std::shared_ptr<const GgufInfo> file() const { return status().file; }
  supervisor::Status status() const { return supervisor_->status(); }
  Metrics metrics();

 private:
  void require_own_process() const;
  void drain_events() noexcept;
  /// Waits for all rows. Throws.
  scoring::ScoreJob::Outcome run_plan(scoring::RowPlan plan);
  std::optional<Decision> decide_natively(const DecisionCase& asked);
  scoring::Tokenizer tokenizer();

  bool space_prefix() const { return file()->tokenizer == "llama"; }
  void load(std::shared_ptr<const supervisor::ModelFile> file, const std::stop_token& stop);

  std::shared_ptr<Runtime> runtime_;
  server::ModelPaths paths_;
  bool exact_scores_;
  std::shared_ptr<supervisor::Supervisor> supervisor_;
  struct Totals;
  std::shared_ptr<Totals> totals_;

  ScoreFrames frames_;
};

}  // namespace llamavisor::detail
