/// \file
/// Descriptors 0, 1 and 2.
#pragma once

namespace llamavisor::cli {

/// Call it first of all: a standard stream that the caller closed gets a descriptor that refuses
/// every use. Otherwise the next file or socket would take its number, and the answer's text would
/// go there.
void guard_standard_streams();

bool is_terminal(int descriptor);

/// A terminal that can move its cursor: not TERM=dumb.
bool can_draw(int descriptor);

/// It can draw, and the user has not said no to colours with NO_COLOR.
bool wants_colours(int descriptor);

/// Columns of a terminal; 80 where it does not say.
int columns(int descriptor);

}  // namespace llamavisor::cli
