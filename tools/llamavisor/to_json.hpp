/// \file
/// Public values as JSON, member by member, under the members' own names.
#pragma once

#include <llamavisor/device.hpp>
#include <llamavisor/engine.hpp>
#include <llamavisor/error.hpp>
#include <llamavisor/event.hpp>
#include <llamavisor/model_files.hpp>
#include <llamavisor/token_stream.hpp>

#include <boost/json.hpp>

#include <vector>

namespace llamavisor::cli {

boost::json::object to_json(const Device& device);  ///< null for what is not known
boost::json::object to_json(const Engine& engine);
boost::json::object to_json(const Event& event);
boost::json::object to_json(const Failure& failure);
boost::json::object to_json(const FoundModel& model);       ///< null for what is not known
boost::json::object to_json(const GenerateResult& result);  ///< without its failure
boost::json::object to_json(const Resume& resume);
boost::json::object to_json(const Token& token);
boost::json::object to_json(const TokenLogprob& token);

template <typename Value>
boost::json::array list_to_json(const std::vector<Value>& values) {
  boost::json::array array;
  for (const auto& value : values)
    array.emplace_back(to_json(value));
  return array;
}

}  // namespace llamavisor::cli
