#include "completion.hpp"

#include "completion_run.hpp"
#include "json_text.hpp"
#include "tokenizer.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace fake {
namespace {

namespace json = boost::json;

std::chrono::milliseconds ping_interval(const Server& server) {
  if (server.script.ping_ms > 0) return std::chrono::milliseconds(server.script.ping_ms);
  return std::chrono::seconds(server.arguments.ping_seconds);
}

/// What a test may want to know of a request.
json::object facts(long id, const CompletionRequest& request) {
  constexpr std::size_t longest = 256;
  const auto& prompt = request.prompts.front();
  const auto shown = std::span(prompt).last(std::min(longest, prompt.size()));
  json::array stops;
  for (const auto& stop : request.stops)
    stops.push_back(json::parse(json_string(stop)));
  return {{"id", id},
          {"path", "/completion"},
          {"authorized", true},
          {"n_prompt", prompt.size()},
          {"prompt_ids", json::array(shown.begin(), shown.end())},
          {"prompt", json::parse(json_string(detokenize(shown)))},
          {"prompts", request.prompts.size()},
          {"n_predict", request.n_predict},
          {"stream", request.stream},
          {"return_progress", request.return_progress},
          {"cache_prompt", request.cache_prompt},
          {"temperature", request.sampling.temperature},
          {"seed", request.random_seed ? json::value(nullptr) : json::value(request.sampling.seed)},
          {"ignore_eos", request.sampling.ignore_eos},
          {"n_probs", request.n_probs},
          {"stop", std::move(stops)}};
}

void check_context(const CompletionRequest& request, int context) {
  for (const auto& prompt : request.prompts) {
    if (static_cast<int>(prompt.size()) < context) continue;
    Refused refused(400,
                    "request (" + std::to_string(prompt.size()) +
                        " tokens) exceeds the available context size (" + std::to_string(context) +
                        " tokens), try increasing it",
                    "exceed_context_size_error");
    refused.more = ",\"n_prompt_tokens\":" + std::to_string(prompt.size()) +
                   ",\"n_ctx\":" + std::to_string(context);
    throw refused;
  }
}

bool cannot_compute(const Server& server, int number) {
  const int after = server.script.completion_500_after;
  return server.script.health_lies || (after >= 0 && number > after);
}

/// All prompts of a request, one after the other.
std::vector<RunResult> run_all(Server& server, Connection& connection, CompletionStream& stream,
                               const CompletionRequest& request, bool faulty) {
  std::vector<RunResult> results;
  for (std::size_t index = 0; index < request.prompts.size(); ++index) {
    results.push_back(run_completion(server, connection, stream, request, index, faulty));
    if (results.back().json.empty()) break;
    const bool withheld = faulty && server.script.end_without_final;
    if (request.stream && !withheld) stream.event(results.back().json);
  }
  return results;
}

void answer_at_once(Connection& connection, const CompletionRequest& request,
                    const std::vector<RunResult>& results) {
  std::string body;
  for (const auto& result : results)
    body += (body.empty() ? "" : ",") + result.json;
  connection.answer(200, request.many ? "[" + body + "]" : body);
}

void wait_for_client_to_go(const Connection& connection) {
  while (!connection.gone())
    Server::pause_briefly();
  throw Gone();
}

void answer_parsed(Server& server, Connection& connection, const CompletionRequest& request,
                   bool faulty, json::object& outcome) {
  CompletionStream stream(connection, ping_interval(server));
  const auto results = run_all(server, connection, stream, request, faulty);
  outcome["tokens"] = results.back().tokens;
  outcome["stop_type"] = results.back().stop_type;
  if (results.back().json.empty()) return;
  if (!request.stream) answer_at_once(connection, request, results);
  if (request.stream) connection.flush();
  if (faulty) server.points.reach(Moment::Place::after_last_event);
  if (!request.stream) return;
  if (faulty && server.script.never_close) wait_for_client_to_go(connection);
  stream.end();
}

}  // namespace

void answer_completion(Server& server, Connection& connection, const Request& received) {
  const long id = server.next_request++;
  json::object outcome{{"id", id}};
  try {
    const auto request = parse_completion_request(received.body, server.script);
    const int number = ++server.completions;
    server.story.tell("request", facts(id, request));
    check_context(request, server.context());
    if (cannot_compute(server, number)) {
      connection.answer(500, compute_error_body());
    } else {
      answer_parsed(server, connection, request, number > server.script.skip, outcome);
    }
    server.story.tell("finished", outcome);
  } catch (const Refused& refused) {
    outcome["status"] = refused.status;
    server.story.tell("refused", outcome);
    connection.answer(refused.status,
                      error_body(refused.status, refused.what(), refused.type, refused.more));
  } catch (const Gone&) {
    server.story.tell("cancelled", outcome);
    throw;
  }
}

}  // namespace fake
