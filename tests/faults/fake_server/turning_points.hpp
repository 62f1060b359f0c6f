// The moments at which the script may hold or end the process.
#pragma once

#include "script.hpp"
#include "story.hpp"

#include <functional>

namespace fake {

class TurningPoints {
 public:
  TurningPoints(const Script& script, const Story& story) : script_(script), story_(story) {}

  /// The server has come to this moment: waits where the script holds it, ends the process where
  /// the script says so. `gone` ends a wait early.
  void reach(Moment::Place place, int count = 0, const std::function<bool()>& gone = {}) const;

  /// Whether anything is to happen at this moment.
  bool is_awaited(Moment::Place place, int count = 0) const;

  /// The milliseconds of idleness after which the script ends the process; -1 = never.
  int idle_limit() const;

 private:
  [[noreturn]] void die(const Death& death) const;
  void speak_last_words() const;

  const Script& script_;
  const Story& story_;
};

}  // namespace fake
