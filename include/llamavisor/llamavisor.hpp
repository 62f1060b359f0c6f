/// \file
/// All of llamavisor.
#pragma once

#include <llamavisor/backend.hpp>
#include <llamavisor/callback.hpp>
#include <llamavisor/decision.hpp>
#include <llamavisor/device.hpp>
#include <llamavisor/engine.hpp>
#include <llamavisor/error.hpp>
#include <llamavisor/event.hpp>
#include <llamavisor/generate_options.hpp>
#include <llamavisor/gguf.hpp>
#include <llamavisor/load_options.hpp>
#include <llamavisor/model_files.hpp>
#include <llamavisor/text_model.hpp>
#include <llamavisor/token_stream.hpp>
