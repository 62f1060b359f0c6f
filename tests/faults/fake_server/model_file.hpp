// The model: it is only looked at.
#pragma once

#include <string>

namespace fake {

/// Why a model file cannot be loaded, in the real server's words; empty when it can.
std::string model_fault(const std::string& file);

}  // namespace fake
