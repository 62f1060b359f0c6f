"""What is wrong with a command line is said in one line, with status 2, before anything is started."""

import unittest

from support import CHAT, TOOL, ProgramTest


class Usage(ProgramTest):
    def setUp(self):
        super().setUp()
        self.words = [TOOL, "generate", "-m", "there-is-no-such-model.gguf", "-p", "x"]

    def assert_usage(self, words, *parts):
        self.assert_error(self.run_program(words), 2, *parts)

    def test_a_subcommand_is_needed(self):
        self.assert_usage([TOOL], "subcommand")

    def test_an_unknown_option_is_refused(self):
        self.assert_usage([*self.words, "--frobnicate"], "--frobnicate")
        self.assert_usage([CHAT, "-m", "x", "--frobnicate"], "--frobnicate")

    def test_one_prompt_is_needed_and_not_two(self):
        self.assert_usage([TOOL, "generate", "-m", "x"], "--prompt")
        self.assert_usage([*self.words, "--prompt-file", "/dev/null"], "--prompt")

    def test_text_where_a_number_should_be_is_refused(self):
        self.assert_usage([*self.words, "--max-tokens", "many"], "--max-tokens", "many")
        self.assert_usage([*self.words, "--seed", "-1"], "--seed")
        self.assert_usage([*self.words, "--gpu-layers", "some"], "--gpu-layers", "some")

    def test_the_last_of_a_repeated_option_counts(self):
        self.assert_usage([*self.words, "--parallel", "2", "--parallel", "0"], "--parallel must be")
        self.assert_error(self.run_program([*self.words, "--parallel", "0", "--parallel", "2"]), 1, "model_not_found")

    def test_a_load_option_out_of_range_is_named_as_it_was_typed(self):
        self.assert_usage([*self.words, "--parallel", "0"], "--parallel must be")
        self.assert_usage([*self.words, "--context-length", "-5"], "--context-length must be")
        self.assert_usage([*self.words, "--load-silence", "-1"], "--load-silence must be")

    def test_an_answer_option_out_of_range_is_named_before_the_model_is_even_looked_for(self):
        for words, told in [(["--top-p", "5"], "--top-p must be"), (["--max-tokens", "-1"], "--max-tokens must"),
                            (["--min-p", "2"], "--min-p must be")]:
            with self.subTest(words):
                self.assert_usage([*self.words, *words], told)
                self.assert_usage([CHAT, "-m", "there-is-no-such-model.gguf", *words], told)

    def test_an_environment_entry_needs_a_name_and_a_value(self):
        self.assert_usage([*self.words, "--env", "NOVALUE"], "--env", "NOVALUE")

    def test_server_arguments_are_split_as_a_shell_splits_them(self):
        """The supervisor names the argument that it refuses, so the words can be seen."""
        for text in ("-fa off -m", "-fa off '-m'", '-fa off "-m"', "-fa off -'m'", r"-fa off \-m"):
            with self.subTest(text):
                self.assert_usage([*self.words, "--server-args", text], "argument -m belongs")

    def test_a_quoted_word_is_one_argument(self):
        """Refused would be "-m"; "a -m" goes through, and only the model is missing."""
        result = self.run_program([*self.words, "--server-args", '-fa "a -m"'])
        self.assert_error(result, 1, "model_not_found")

    def test_a_quote_without_an_end_is_refused(self):
        self.assert_usage([*self.words, "--server-args", "-fa 'off"], "'")

    def test_a_grammar_and_a_schema_exclude_each_other(self):
        self.assert_usage([*self.words, "--grammar", "/dev/null", "--json-schema", "/dev/null"], "--json-schema")

    def test_an_unreadable_or_empty_grammar_is_refused(self):
        self.assert_usage([*self.words, "--grammar", self.folder / "none"], "--grammar", "No such file")
        self.assert_usage([*self.words, "--grammar", self.folder], "--grammar", "directory")
        self.assert_usage([*self.words, "--grammar", "/dev/null"], "--grammar", "empty")

    def test_a_missing_model_is_no_mistake_of_usage(self):
        self.assert_error(self.run_program(self.words), 1, "there-is-no-such-model.gguf", "[model_not_found]")
        self.assert_error(self.run_program([CHAT, "-m", "none.gguf", "-p", "x"]), 1, "[model_not_found]")

    def test_json_tells_the_error_and_stderr_does_too(self):
        result = self.run_program([*self.words, "--json"])
        self.assertEqual(result.returncode, 1)
        answer = self.run_json(self.words, status=1)
        self.assertEqual(answer["error"]["code"], "model_not_found")
        self.assertEqual((answer["text"], answer["events"]), ("", []))
        self.assertLessEqual({"message", "phase", "cause", "exit_code", "signal", "last_lines"}, set(answer["error"]))
        self.assertIn(b"model_not_found", result.stderr)


class Texts(ProgramTest):
    def test_help_and_version_go_to_stdout(self):
        for words, part in (([TOOL, "--help"], b"generate"), ([TOOL, "generate", "--help"], b"--server-args"),
                            ([TOOL, "--version"], b"llamavisor "), ([CHAT, "--version"], b"llamavisor-chat "),
                            ([CHAT, "--help"], b"--system")):
            with self.subTest(words):
                result = self.run_program(words)
                self.assertEqual((result.returncode, result.stderr), (0, b""))
                self.assertIn(part, result.stdout)


if __name__ == "__main__":
    unittest.main()
