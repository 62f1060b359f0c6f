"""`llamavisor generate` on a real engine."""

import json
import os
import signal
import unittest
from pathlib import Path

from support import PATIENCE, TOOL, ProgramTest, engine, model, processor_time, wait_until


class Generate(ProgramTest):
    def test_the_text_goes_to_stdout_and_nothing_else_anywhere(self):
        result = self.run_program(self.generate("-n", "24"))
        answer = self.run_json(self.generate("-n", "24"))
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        self.assertEqual(result.stdout.decode(), answer["text"])
        self.assertGreater(len(answer["text"]), 0)

    def test_json_holds_the_result_its_figures_and_the_events_in_order(self):
        answer = self.run_json(self.generate("-n", "16"))
        self.assertEqual(answer["finish_reason"], "length")
        self.assertEqual((answer["generated_tokens"], len(answer["token_ids"])), (16, 16))
        self.assertTrue(answer["token_ids_complete"])
        self.assertGreater(answer["prompt_tokens"], 0)
        self.assertEqual((answer["device"], answer["generations"]), ("cpu", 1))
        self.assertEqual(answer["engine_build"], json.loads((Path(engine()) / "engine.json").read_text())["build"])
        self.assertGreater(answer["timings"]["first_token_ms"], 0)
        self.assertGreaterEqual(answer["timings"]["total_ms"], answer["timings"]["first_token_ms"])
        self.assertNotIn("error", answer)
        kinds = [event["kind"] for event in answer["events"]]
        self.assertEqual([kinds[0], kinds[-2], kinds[-1]], ["started", "ready", "stopped"])
        self.assertEqual({event["device"] for event in answer["events"]}, {"cpu"})

    def test_prompts_of_stdin_and_files_are_taken_byte_for_byte(self):
        prompt = b"one\0two\n three\r\n\n"
        file = self.folder / "prompt"
        file.write_bytes(prompt)
        words = [TOOL, "generate", "-m", model(), "--engine", engine(), "--threads", "1", "-n", "4"]
        from_file = self.run_json([*words, "--temperature", "0", "--prompt-file", file])
        from_stdin = self.run_json(self.generate("-n", "4", prompt="-"), input=prompt)
        shorter = self.run_json(self.generate("-n", "4", prompt="-"), input=prompt.rstrip(b"\n"))
        self.assertEqual(from_file["token_ids"], from_stdin["token_ids"])
        self.assertEqual(from_file["prompt_tokens"], from_stdin["prompt_tokens"])
        self.assertGreater(from_stdin["prompt_tokens"], shorter["prompt_tokens"])

    def test_special_tokens_in_a_raw_prompt_are_tokens(self):
        special = self.run_json(self.generate("-n", "1", prompt="<|im_start|>"))
        plain = self.run_json(self.generate("-n", "1", prompt="<|im_st art|>"))
        self.assertLess(special["prompt_tokens"], plain["prompt_tokens"])

    def test_an_empty_prompt_is_answered(self):
        self.assertEqual(self.run_json(self.generate("-n", "3", prompt=""))["generated_tokens"], 3)

    def test_any_of_several_stop_strings_ends_the_answer_before_itself(self):
        whole = self.run_json(self.generate("-n", "48"))["text"]
        stop = whole[20:24]
        answer = self.run_json(self.generate("-n", "48", "--stop", "never, ever", "--stop", stop))
        self.assertEqual((answer["finish_reason"], answer["stop_string"]), ("stop_string", stop))
        self.assertEqual(answer["text"], whole[:whole.index(stop)])

    def test_a_stop_string_may_look_like_an_option(self):
        self.assertEqual(self.run_json(self.generate("-n", "2", "--stop", "--json"))["generated_tokens"], 2)

    def test_a_stop_token_ends_the_answer_before_itself(self):
        ids = self.run_json(self.generate("-n", "24"))["token_ids"]
        answer = self.run_json(self.generate("-n", "24", "--stop-token", ids[9]))
        self.assertEqual((answer["finish_reason"], answer["token_ids"]), ("stop", ids[:ids.index(ids[9])]))

    def test_logprobs_come_for_each_token_best_first(self):
        answer = self.run_json(self.generate("-n", "6", "--logprobs", "3"))
        self.assertEqual([token["id"] for token in answer["tokens"]], answer["token_ids"])
        for token in answer["tokens"]:
            scores = [other["logprob"] for other in token["top"]]
            self.assertEqual((len(scores), scores), (3, sorted(scores, reverse=True)))
            self.assertEqual(token["top"][0]["id"], token["id"])

    def test_the_seed_decides_a_random_answer(self):
        words = [TOOL, "generate", "-m", model(), "--engine", engine(), "--threads", "1", "-p", "x", "-n", "24"]
        first, again, other = (self.run_json([*words, "--seed", seed])["text"] for seed in (1, 1, 2))
        self.assertEqual(first, again)
        self.assertNotEqual(first, other)

    def test_a_schema_and_a_grammar_bind_the_answer(self):
        schema, grammar = self.folder / "schema", self.folder / "grammar"
        schema.write_text('{"enum": ["left", "right"]}')
        grammar.write_text('root ::= "yes" | "no"')
        self.assertIn(json.loads(self.run_json(self.generate("--json-schema", schema))["text"]), ("left", "right"))
        self.assertIn(self.run_json(self.generate("--grammar", grammar))["text"], ("yes", "no"))

    def test_options_of_the_load_reach_the_server(self):
        words = self.generate("--ignore-eos", "--env", "GREETING=a b=c", "--env", "OTHER=", "--server-args", "-fa off",
                              "--context-length", "512", "--parallel", "2")
        process = self.start(words)
        server = Path(f"/proc/{self.server_of(process)}")
        process.stdout.read(1)  # it serves
        command = (server / "cmdline").read_bytes().decode().split("\0")
        self.assertEqual(command[command.index("-fa") + 1], "off")
        self.assertEqual(command[command.index("--ctx-size") + 1], "1024")
        self.assertEqual(command[command.index("--parallel") + 1], "2")
        environment = (server / "environ").read_bytes().decode().split("\0")
        self.assertIn("GREETING=a b=c", environment)
        self.assertIn("OTHER=", environment)
        process.terminate()
        process.stdout.read()
        self.assertEqual(process.wait(), 143)

    def test_an_answer_option_out_of_range_is_a_mistake_of_usage(self):
        self.assert_error(self.run_program(self.generate("--top-p", "5")), 2, "--top-p must be", "[invalid_option]")

    def test_a_deadline_that_passes_is_an_error_with_the_text_so_far(self):
        result = self.run_program([*self.generate("--ignore-eos", "--deadline", "1"), "--json"])
        answer = json.loads(result.stdout)
        self.assertEqual((result.returncode, answer["error"]["code"]), (1, "deadline_exceeded"))
        self.assertIn("text", answer)

    def test_no_cache_prompt_computes_all_of_it(self):
        answer = self.run_json(self.generate("-n", "1", "--no-cache-prompt"))
        self.assertEqual(answer["timings"]["cached_tokens"], 0)


class ServerDeath(ProgramTest):
    def killed(self, *words):
        """The JSON of a run whose server was killed while it answered, and the exit status."""
        process = self.start([*self.generate("--ignore-eos", *words), "--json"])
        server = self.server_of(process)
        wait_until("it answers", lambda: processor_time(server) > 0.5)  # a load of the small model takes 0.1
        os.kill(server, signal.SIGKILL)
        out, said = process.communicate(timeout=PATIENCE)
        return process.returncode, json.loads(out), said.decode()

    def test_another_takes_over_and_json_tells(self):
        status, answer, _ = self.killed()
        self.assertEqual((status, answer["finish_reason"], answer["generations"]), (0, "length", 2))
        self.assertEqual([resume["generation"] for resume in answer["resumes"]], [2])
        self.assertIn("crashed", [event["kind"] for event in answer["events"]])

    def test_where_none_may_it_is_an_error_with_the_text_so_far(self):
        status, answer, said = self.killed("--fallback", "never")
        self.assertEqual((status, answer["error"]["code"], answer["error"]["signal"]), (1, "server_died", "SIGKILL"))
        self.assertGreater(len(answer["text"]), 0)
        self.assertRegex(said, r"\A[^\n]*\[server_died\]\n\Z")


if __name__ == "__main__":
    unittest.main()
