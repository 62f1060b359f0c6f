// Relatives of the server process that make its end hard to see.
#pragma once

#include "script.hpp"
#include "story.hpp"

namespace fake {

/// Forks as the script says. Returns in the process that is to serve; a parent that waits never
/// returns.
void make_family(const Script& script, const Story& story);

}  // namespace fake
