// A model whose server is struck, and the proof that an answer across the seam is whole.
#pragma once

#include "frozen_thread.hpp"
#include "setup.hpp"

#include <optional>
#include <string>
#include <vector>

namespace llamavisor::contract {

/// What befalls a server.
struct Fault {
  const char* name;
  int signal = 0;  ///< 0: its main thread, which computes, is frozen; its HTTP threads live on
  bool hangs = false;
};

extern const std::vector<Fault> deaths;  ///< it ends at once
extern const std::vector<Fault> hangs;   ///< it stays, and computes nothing more

/// More than a stream and its socket hold: what befalls the server cuts it.
inline constexpr int stricken_tokens = 1200;

/// A model on a device, with the CPU engine below, limits of a hang that are short, and a list of
/// quarantined devices of its own.
class Stricken {
 public:
  explicit Stricken(const std::string& device, int parallel = 2,
                    std::vector<std::string> server_args = {});

  /// Strikes the only server; returns when it has ended, or computes no more.
  void strike(const Fault& fault);

  /// That there was one replacement, for this reason; that nothing else was started, and that the
  /// server which was struck is gone.
  void check_events(const Fault& fault);

  /// That an answer across one seam has lost nothing and doubled nothing: its ids spell its text,
  /// and what follows the seam is what the CPU says after what was delivered before it.
  void check_seam(const std::string& prompt, const GenerateResult& answer);

  EventLog log;

 private:
  ScopedVariable engines_;
  TemporaryFolder state_;
  ScopedVariable state_home_;

 public:
  TextModel model;
  const bool on_gpu;

 private:
  TextModel load(const std::string& device, int parallel,
                 std::vector<std::string> server_args) const;
  std::vector<TokenId> ids_of(const GenerateResult& answer, std::size_t bytes) const;

  pid_t victim_ = 0;
  std::optional<FrozenThread> frozen_;
};

/// Reads each stream to its end, all at once: one that is not read holds its server back.
std::vector<std::string> read_all(std::vector<TokenStream>& streams);

}  // namespace llamavisor::contract
