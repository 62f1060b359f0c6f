/// \file
/// What a child of fork() does with its copies of our objects.
#pragma once

#include <memory>

namespace llamavisor {

/// Keeps an object for ever, without running its destructor: in a child of fork() a destructor
/// would join threads that are not there, lock what another thread had locked, and take descriptors
/// out of an epoll set that is the parent's too. Still reachable, so no leak to a checker.
void keep_for_ever(std::shared_ptr<void> object);

}  // namespace llamavisor
