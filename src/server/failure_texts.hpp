/// \file
/// The table of texts by which a dying llama-server tells what happened to it.
#pragma once

#include <llamavisor/error.hpp>

#include <span>
#include <string_view>

namespace llamavisor::server {

/// One row: a line that holds all parts of `pattern`, in order, gives `cause` away. The parts are
/// separated by '*'.
struct FailureText {
  std::string_view pattern;
  Cause cause;
};

/// All rows, most telling first: the first row that any line matches decides. So a root cause
/// stands above what merely follows from it ("failed to load model" follows from everything).
std::span<const FailureText> failure_texts() noexcept;

/// Whether a line has all parts of a row's pattern.
bool matches(std::string_view line, std::string_view pattern) noexcept;

}  // namespace llamavisor::server
