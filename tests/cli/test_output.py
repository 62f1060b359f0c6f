"""Where the output goes wrong, that is said; where its reader has gone, nothing is."""

import os
import subprocess
import unittest

from support import CHAT, PATIENCE, TOOL, ProgramTest


class Output(ProgramTest):
    def test_a_full_disk_is_an_error(self):
        for words in (self.generate("-n", "4"), [*self.generate("-n", "4"), "--json"], self.chat("-p", "x", "-n", "4"),
                      [TOOL, "engines", "--json"], [TOOL, "--version"], [CHAT, "--help"]):
            with self.subTest(words), open("/dev/full", "wb") as full:
                result = self.run_program(words, stdout=full, stderr=subprocess.PIPE, capture_output=False)
                self.assertEqual(result.returncode, 1)
                self.assertIn(b"No space left", result.stderr.splitlines()[-1])

    def test_a_closed_stdout_is_an_error_before_anything_is_loaded(self):
        for words in (self.generate("-n", "4"), self.chat("-p", "x"), [TOOL, "engines", "--json"], [TOOL, "--version"]):
            with self.subTest(words):
                shell = ["sh", "-c", 'exec "$@" >&-', "sh", *words]
                result = self.run_program(shell)
                self.assert_error(result, 1, "cannot write to standard output")

    def test_a_closed_stdin_is_an_error_for_a_prompt_that_comes_from_it(self):
        shell = ["sh", "-c", 'exec "$@" <&-', "sh", *self.generate(prompt="-")]
        self.assert_error(self.run_program(shell), 1, "cannot read standard input")

    def test_a_reader_that_goes_ends_it_quietly(self):
        for words in (self.generate("--ignore-eos"), self.chat("--ignore-eos", "-p", "x")):
            with self.subTest(words):
                process = self.start(words)
                self.server_of(process)
                process.stdout.read(1)
                process.stdout.close()
                said = process.stderr.read()
                self.assertEqual(process.wait(), 141)
                self.assertNotIn(b"cannot write", said)

    def test_the_text_comes_while_it_is_made(self):
        process = self.start(self.generate("--ignore-eos"))
        server = self.server_of(process)
        self.assertEqual(len(process.stdout.read(1)), 1)
        self.assertIsNone(process.poll())
        os.kill(process.pid, 15)
        process.communicate(timeout=PATIENCE)
        self.assertFalse(os.path.exists(f"/proc/{server}/exe"))


if __name__ == "__main__":
    unittest.main()
