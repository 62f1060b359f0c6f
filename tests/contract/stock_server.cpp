#include "stock_server.hpp"

#include <llamavisor/engine.hpp>

#include "plain_http.hpp"
#include "setup.hpp"

#include <boost/json.hpp>

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>

namespace llamavisor::contract {

namespace json = boost::json;

namespace {

json::array to_json(std::span<const TokenId> ids) {
  return json::array(ids.begin(), ids.end());
}

std::vector<TokenId> to_ids(const json::value& list) {
  std::vector<TokenId> ids;
  for (const auto& id : list.as_array())
    ids.push_back(id.to_number<TokenId>());
  return ids;
}

std::string completion(json::value prompt, int max_tokens, bool stream) {
  return json::serialize(json::object{{"prompt", std::move(prompt)},
                                      {"n_predict", max_tokens},
                                      {"temperature", 0},
                                      {"ignore_eos", true},
                                      {"cache_prompt", false},
                                      {"return_tokens", true},
                                      {"stream", stream}});
}

StockAnswer to_answer(const std::string& body) {
  const auto answer = json::parse(body);
  return {.text = std::string(answer.at("content").as_string()),
          .ids = to_ids(answer.at("tokens")),
          .prompt_tokens = answer.at("tokens_evaluated").to_number<int>(),
          .stop_type = std::string(answer.at("stop_type").as_string())};
}

}  // namespace

StockServer::StockServer(const std::filesystem::path& model)
    : socket_(folder_.path() / "stock.sock") {
  const auto engine = read_engine(cpu_engine());
  std::vector<std::string> command = engine.command;
  for (const char* argument : {"-c", "4096", "-np", "1", "-t", "1", "-fa", "off"})
    command.emplace_back(argument);
  command.insert(command.end(), {"-m", model.string(), "--host", socket_});
  std::vector<char*> arguments;
  for (auto& argument : command)
    arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  const auto log = (folder_.path() / "log").string();

  process_ = ::fork();
  if (process_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int output = ::open(log.c_str(), O_WRONLY | O_CREAT, 0600);
    ::dup2(output, 1);
    ::dup2(output, 2);
    ::execv(arguments[0], arguments.data());
    ::_exit(127);
  }
  wait_until("the stock server is ready", [&] {
    if (::waitpid(process_, nullptr, WNOHANG) == process_) {
      throw std::runtime_error("the stock server has ended: " + test::read_file(log));
    }
    return http_request(socket_, "GET", "/health").status == 200;
  });
}

StockServer::~StockServer() {
  ::kill(process_, SIGKILL);
  ::waitpid(process_, nullptr, 0);
}

std::string StockServer::post(std::string_view target, const std::string& body) const {
  auto answer = http_request(socket_, "POST", std::string(target), body);
  if (answer.status != 200) {
    throw std::runtime_error("the stock server answered " + std::to_string(answer.status) + ": " +
                             answer.body);
  }
  return std::move(answer.body);
}

StockAnswer StockServer::complete(std::string_view prompt, int max_tokens) const {
  return to_answer(post("/completion", completion(json::string(prompt), max_tokens, false)));
}

StockAnswer StockServer::complete(std::span<const TokenId> prompt, int max_tokens) const {
  return to_answer(post("/completion", completion(to_json(prompt), max_tokens, false)));
}

StockAnswer StockServer::stream(std::span<const TokenId> prompt, int max_tokens) const {
  const auto body = post("/completion", completion(to_json(prompt), max_tokens, true));
  StockAnswer whole;
  constexpr std::string_view mark = "data: ";
  for (auto at = body.find(mark); at != std::string::npos; at = body.find(mark, at)) {
    at += mark.size();
    const auto event = json::parse(body.substr(at, body.find('\n', at) - at));
    whole.text += event.at("content").as_string();
    if (event.at("stop").as_bool()) break;
    const auto ids = to_ids(event.at("tokens"));
    whole.ids.insert(whole.ids.end(), ids.begin(), ids.end());
  }
  return whole;
}

StockAnswer StockServer::chat(std::string_view message, int max_tokens) const {
  const json::object body{
      {"messages", json::array{json::object{{"role", "user"}, {"content", json::string(message)}}}},
      {"max_tokens", max_tokens},
      {"temperature", 0},
      {"cache_prompt", false}};
  const auto answer = json::parse(post("/v1/chat/completions", json::serialize(body)));
  const auto& choice = answer.at("choices").at(0);
  return {.text = std::string(choice.at("message").at("content").as_string()),
          .prompt_tokens = answer.at("usage").at("prompt_tokens").to_number<int>(),
          .stop_type = std::string(choice.at("finish_reason").as_string())};
}

std::vector<TokenId> StockServer::tokenize(std::string_view text, bool add_special,
                                           bool parse_special) const {
  const json::object body{{"content", json::string(text)},
                          {"add_special", add_special},
                          {"parse_special", parse_special}};
  return to_ids(json::parse(post("/tokenize", json::serialize(body))).at("tokens"));
}

std::string StockServer::detokenize(std::span<const TokenId> ids) const {
  const auto body = json::serialize(json::object{{"tokens", to_json(ids)}});
  return std::string(json::parse(post("/detokenize", body)).at("content").as_string());
}

std::string StockServer::apply_template(std::string_view message) const {
  const json::object body{{"messages", json::array{json::object{
                                           {"role", "user"}, {"content", json::string(message)}}}}};
  const auto answer = json::parse(post("/apply-template", json::serialize(body)));
  return std::string(answer.at("prompt").as_string());
}

std::vector<TokenLogprob> StockServer::best(std::span<const TokenId> prompt, int count,
                                            TokenId steered) const {
  const json::object body{
      {"prompt", to_json(prompt)}, {"n_predict", 1},
      {"n_probs", count},          {"logit_bias", json::array{json::array{steered, 100.0}}},
      {"temperature", 0},          {"cache_prompt", false}};
  const auto answer = json::parse(post("/completion", json::serialize(body)));
  std::vector<TokenLogprob> best;
  for (const auto& entry :
       answer.at("completion_probabilities").at(0).at("top_logprobs").as_array()) {
    best.push_back({.id = entry.at("id").to_number<TokenId>(),
                    .text = std::string(entry.at("token").as_string()),
                    .logprob = entry.at("logprob").to_number<double>()});
  }
  return best;
}

}  // namespace llamavisor::contract
