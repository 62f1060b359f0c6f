#include "server/server_call.hpp"

#include <llamavisor/error.hpp>

#include "catch.hpp"
#include "unit/expect.hpp"

#include <string>
#include <vector>

using namespace llamavisor;
using namespace llamavisor::server;
using llamavisor::test::says;
using llamavisor::test::thrown_by;

TEST_CASE("server call: what needs no words is asked without a body", "[server]") {
  for (const auto& [call, target] : {std::pair{ask_health(), "/health"},
                                     {ask_properties(), "/props"},
                                     {ask_slots(), "/slots"},
                                     {ask_adapters(), "/lora-adapters"}}) {
    CHECK(call.method == "GET");
    CHECK(call.target == target);
    CHECK(call.body.empty());
  }
}

TEST_CASE("server call: each question is exactly this JSON", "[server]") {
  const auto tokenize = ask_tokenize("say \"\u00e9\"\n", true, false);
  CHECK(tokenize.method == "POST");
  CHECK(tokenize.target == "/tokenize");
  CHECK(tokenize.body == R"({"content":"say \"é\"\n","add_special":true,"parse_special":false})");
  CHECK(ask_tokenize("", false, true).body ==
        R"({"content":"","add_special":false,"parse_special":true})");

  const std::vector<TokenId> ids{7, 0, 2147483647};
  const auto detokenize = ask_detokenize(ids);
  CHECK(detokenize.method == "POST");
  CHECK(detokenize.target == "/detokenize");
  CHECK(detokenize.body == R"({"tokens":[7,0,2147483647]})");
  CHECK(ask_detokenize({}).body == R"({"tokens":[]})");

  const std::vector<Message> messages{{"system", "be brief"}, {"user", "a\\b\tc"}};
  const auto render = ask_apply_template(messages);
  CHECK(render.method == "POST");
  CHECK(render.target == "/apply-template");
  CHECK(render.body == R"({"messages":[{"role":"system","content":"be brief"},)"
                       R"({"role":"user","content":"a\\b\tc"}]})");
}

TEST_CASE("server call: the properties of a real server are read", "[server]") {
  const auto properties = parse_properties(
      R"({"default_generation_settings":{"params":{"seed":4294967295},"n_ctx":2048},)"
      R"("total_slots":4,"model_alias":"x7","chat_template":"{{ messages }}",)"
      R"("bos_token":"<s>","eos_token":"</s>","build_info":"b11669-Debian"})");
  CHECK(properties.alias == "x7");
  CHECK(properties.slots == 4);
  CHECK(properties.context_length == 2048);
  CHECK(properties.build_info == "b11669-Debian");
  CHECK(properties.chat_template == "{{ messages }}");
  CHECK(properties.bos_text == "<s>");
}

TEST_CASE("server call: properties that a stranger sends have no alias", "[server]") {
  for (const char* body : {"{}", "[]", "null", R"({"model_alias":7})", R"({"model_alias":null})"}) {
    CAPTURE(body);
    CHECK(parse_properties(body).alias.empty());
  }
  CHECK(thrown_by([] { parse_properties("<html>"); }).code == errc::protocol_error);
}

TEST_CASE("server call: tokens are an array of ids, or a protocol error", "[server]") {
  CHECK(parse_tokens(R"({"tokens":[331,104,105]})") == std::vector<TokenId>{331, 104, 105});
  CHECK(parse_tokens(R"({"tokens":[]})").empty());
  for (const char* body :
       {"", "[]", "{}", R"({"tokens":7})", R"({"tokens":[-1]})", R"({"tokens":["7"]})",
        R"({"tokens":[1.5]})", R"({"tokens":[null]})", R"({"tokens":[2147483648]})",
        R"({"tokens":[{"id":7,"piece":"a"}]})", R"({"tokens":[1,2)", R"({"tokens":[1]} x)"}) {
    CAPTURE(body);
    const auto failure = thrown_by([&] { parse_tokens(body); });
    CHECK(failure.code == errc::protocol_error);
    CHECK(says(failure.message, "tools/get-engine"));
  }
}

TEST_CASE("server call: texts are strings, or a protocol error", "[server]") {
  CHECK(parse_content(R"({"content":"a\u00e9\n"})") == "a\u00e9\n");
  CHECK(parse_prompt(R"({"prompt":"<|im_start|>user"})") == "<|im_start|>user");
  for (const char* body : {"", "{}", "null", R"({"content":null,"prompt":null})",
                           R"({"content":7,"prompt":[]})", R"({"content":"a","prompt":"b")"}) {
    CAPTURE(body);
    CHECK(thrown_by([&] { parse_content(body); }).code == errc::protocol_error);
    CHECK(thrown_by([&] { parse_prompt(body); }).code == errc::protocol_error);
  }
}

TEST_CASE("server call: JSON deeper than any answer is refused, not recursed into", "[server]") {
  const std::string deep(100'000, '[');
  CHECK(thrown_by([&] { parse_tokens(deep); }).code == errc::protocol_error);
  CHECK(parse_error(500, deep).message == deep.substr(0, 500));
}

TEST_CASE("server call: an error is read in every form that builds have sent", "[server]") {
  const auto wrapped = parse_error(
      400, R"({"error":{"code":401,"message":"Invalid API Key","type":"authentication_error"}})");
  CHECK(wrapped.code == 401);
  CHECK(wrapped.message == "Invalid API Key");
  CHECK(wrapped.type == "authentication_error");

  const auto bare =
      parse_error(500, R"({"code":503,"message":"Loading model","type":"unavailable_error"})");
  CHECK(bare.code == 503);
  CHECK(bare.message == "Loading model");
  CHECK(bare.type == "unavailable_error");

  const auto text = parse_error(500, R"({"error":"out of slots"})");
  CHECK(text.code == 500);
  CHECK(text.message == "out of slots");
  CHECK(text.type.empty());
}

TEST_CASE("server call: an error without a code has the answer's status", "[server]") {
  for (const char* body : {"", "{}", R"({"error":{}})", R"({"error":null})",
                           R"({"error":{"code":"x","message":7}})", R"({"message":null})"}) {
    CAPTURE(body);
    const auto error = parse_error(418, body);
    CHECK(error.code == 418);
    CHECK(error.message.empty());
    CHECK(error.type.empty());
  }
}

TEST_CASE("server call: an error that is no JSON object is told by its first line", "[server]") {
  CHECK(parse_error(502, "Bad Gateway\n<hr>nginx").message == "Bad Gateway");
  CHECK(parse_error(502, "[1,2]").message == "[1,2]");
  CHECK(parse_error(502, R"({"error":)").message == R"({"error":)");
  CHECK(parse_error(502, std::string(5000, 'x')).message == std::string(500, 'x'));
}

TEST_CASE("server call: a prompt beyond the context says by how much, and the way out",
          "[server]") {
  const auto error = parse_error(
      400, R"({"error":{"code":400,"message":"request (9880 tokens) exceeds the available context)"
           R"( size (2048 tokens), try increasing it","type":"exceed_context_size_error",)"
           R"("n_prompt_tokens":9880,"n_ctx":2048}})");
  CHECK(error.prompt_tokens == 9880);
  CHECK(error.context_length == 2048);
  const auto failure = to_failure(error, Phase::prompt);
  CHECK(failure.code == errc::context_exceeded);
  CHECK(failure.phase == Phase::prompt);
  CHECK(failure.http_status == 400);
  CHECK(failure.server_message == error.message);
  CHECK(says(failure.message, "9880"));
  CHECK(says(failure.message, "2048"));
  CHECK(says(failure.message, "LoadOptions::context_length"));
}

TEST_CASE("server call: any other error carries the server's own words", "[server]") {
  const auto failure =
      to_failure({.code = 500, .type = "server_error", .message = "Compute error."}, Phase::idle);
  CHECK(failure.code == errc::server_error);
  CHECK(failure.phase == Phase::idle);
  CHECK(failure.http_status == 500);
  CHECK(failure.server_message == "Compute error.");
  CHECK(failure.message == "llama-server answered 500: Compute error.");
  CHECK(to_failure({.code = 500}, Phase::idle).message ==
        "llama-server answered 500: (no message)");
}
