// The server's own story, for tests to read: one JSON line for each thing that happens, written
// to the file FAKE_SERVER_LOG at once, so that it outlives a kill. README.md lists the events.
#pragma once

#include "script_source.hpp"

#include <boost/json/object.hpp>

#include <string>

namespace fake {

class Story {
 public:
  /// Opens the file, finds out which incarnation this is and tells of its start.
  Story(const Role& role, boost::json::object start);

  const Incarnation& incarnation() const { return incarnation_; }

  void tell(std::string_view event, boost::json::object facts = {}) const;

 private:
  std::string line(std::string_view event, boost::json::object facts) const;

  int file_ = -1;
  bool on_gpu_ = false;
  Incarnation incarnation_;
};

/// What a test may want to know of how the process was started.
boost::json::object facts_of_start(int argc, char** argv);

}  // namespace fake
