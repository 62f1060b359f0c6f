// Where the script comes from, and which of its words are for this incarnation.
#pragma once

#include "script.hpp"

#include <string>

namespace fake {

/// What kind of server this is.
struct Role {
  std::string folder;   ///< of the executable, as it was called: the pack
  std::string flavour;  ///< the pack's, from its fake_server.txt; empty where there is none
  bool on_gpu = false;
};

/// Which incarnation this is, counted in the story (see story.hpp).
struct Incarnation {
  int number = 1;          ///< of all that were started
  int number_of_role = 1;  ///< of those on the GPU, or of those on the CPU
};

/// The pack's own words, then the file FAKE_SERVER_FILE, then the variable FAKE_SERVER; those that
/// are for others are left out. Throws std::invalid_argument.
Script read_script(const Role& role, const Incarnation& incarnation);

/// The pack's flavour alone.
std::string read_flavour(const std::string& folder);

}  // namespace fake
