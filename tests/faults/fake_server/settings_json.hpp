// "generation_settings", "params": the long list of sampling settings that the server repeats.
#pragma once

#include "completion_request.hpp"

#include <string>

namespace fake {

/// As it stands in a completion's last event.
std::string settings_json(const CompletionRequest& request);

/// As it stands in /props and /slots: without some of the members.
std::string short_settings_json(const CompletionRequest& request);

}  // namespace fake
