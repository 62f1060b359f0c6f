"""`llamavisor-chat` in scripts: one answer, or one for each line of standard input."""

import re
import unittest

from support import ProgramTest

FIGURES = r"\(\d+ tokens?, [\d.]+ tokens/s, first token after \d+ ms, on cpu \(build \d+\)\)\n"


class Once(ProgramTest):
    def test_the_answer_is_a_line_on_stdout_and_its_figures_are_on_stderr(self):
        result = self.run_program(self.chat("-p", "Hello", "-n", "12"))
        self.assertEqual(result.returncode, 0)
        self.assertRegex(result.stdout.decode(), r"\A[^\n]+.*\n\Z")
        self.assertRegex(result.stderr.decode(), FIGURES + r"\Z")
        self.assertIn("(12 tokens, ", result.stderr.decode())

    def test_the_load_is_told_a_line_for_each_step(self):
        said = self.run_program(self.chat("-p", "Hello", "-n", "1")).stderr.decode()
        steps = [line for line in said.splitlines() if line.startswith("loading ")]
        self.assertGreaterEqual(len(steps), 3)
        self.assertEqual(len(steps), len(set(steps)))
        self.assertNotIn("\x1b", said)

    def test_the_message_may_come_from_stdin(self):
        typed = self.run_program(self.chat("-p", "two\nlines", "-n", "12"))
        piped = self.run_program(self.chat("-p", "-", "-n", "12"), input=b"two\nlines")
        self.assertEqual(typed.stdout, piped.stdout)
        self.assertGreater(len(typed.stdout), 1)

    def test_the_system_message_is_part_of_the_conversation(self):
        def answer(*words):
            return self.run_program(self.chat("-p", "Hello", "-n", "24", *words)).stdout
        self.assertNotEqual(answer(), answer("--system", "You speak like a pirate of the seven seas."))

    def test_a_failed_load_is_one_error_line(self):
        result = self.run_program(self.chat("-p", "x", "--engine", self.folder))
        self.assert_error(result, 1, "llamavisor-chat: ", "[engine_broken]")

    def test_a_message_longer_than_the_context_is_an_error_that_says_so(self):
        result = self.run_program(self.chat("-p", "word " * 500, "-c", "256"))
        self.assertEqual((result.returncode, result.stdout), (1, b""))
        self.assertRegex(result.stderr.decode(), r"\[context_exceeded\]\n")

    def test_a_full_context_ends_the_answer_and_says_so(self):
        result = self.run_program(self.chat("-p", "Hello", "-c", "256", "--ignore-eos"))
        self.assertEqual(result.returncode, 0)
        self.assertIn("the context of 256 tokens is full", result.stderr.decode())


class Lines(ProgramTest):
    def converse(self, *lines, words=("-n", "8")):
        text = "\n".join(lines)  # the last line has no end, and counts all the same
        return self.run_program(self.chat(*words), input=text.encode())

    def used(self, said):
        return [int(number) for number in re.findall(r"context +(\d+) of \d+ tokens are used", said)]

    def test_each_line_is_a_turn(self):
        result = self.converse("one", "", "   ", "two", "three")
        self.assertEqual(result.returncode, 0)
        self.assertEqual(result.stderr.count(b"ended after 8 tokens"), 3)

    def test_the_conversation_goes_on_until_it_is_reset(self):
        result = self.converse("one", "/stats", "one", "/stats", "/reset", "/stats", "one", "/stats")
        first, second, none, again = self.used(result.stderr.decode())
        self.assertGreater(second, first)
        self.assertEqual((none, again), (0, first))

    def test_stdout_holds_the_answers_alone(self):
        plain = self.converse("one", "/reset", "one")
        with_commands = self.converse("/help", "one", "/stats", "/reset", "/nonsense", "one")
        self.assertEqual(plain.stdout, with_commands.stdout)
        half = plain.stdout[:len(plain.stdout) // 2]
        self.assertEqual(plain.stdout, half + half)
        self.assertIn(b"there is no /nonsense", with_commands.stderr)

    def test_quit_ends_it_before_the_next_line(self):
        result = self.converse("one", "/quit", "two")
        self.assertEqual((result.returncode, result.stderr.count(b"ended after 8 tokens")), (0, 1))

    def test_two_slashes_begin_a_message_with_one(self):
        result = self.converse("//help")
        self.assertEqual(result.stderr.count(b"ended after 8 tokens"), 1)

    def test_a_turn_that_fails_is_told_and_leaves_no_trace(self):
        result = self.converse("one", "/stats", "word " * 500, "/stats", "/reset", "one", "/stats",
                               words=("-n", "8", "-c", "256"))
        said = result.stderr.decode()
        first, after_failure, again = self.used(said)
        self.assertEqual((result.returncode, after_failure, again), (1, first, first))
        self.assertEqual(said.count("[context_exceeded]"), 1)
        self.assertIn("/reset begins a new conversation", said)

    def test_no_history_is_kept_of_a_script(self):
        self.converse("one")
        self.assertFalse((self.folder / "state").exists())


if __name__ == "__main__":
    unittest.main()
