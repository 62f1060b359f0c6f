"""Signals end the programs cleanly, with the shell's statuses, wherever they come."""

import fcntl
import json
import os
import signal
import struct
import termios
import unittest

from support import CHAT, PATIENCE, TOOL, ProgramTest, model, processor_time, wait_until, write_pack


def unread_bytes(pipe):
    return struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)))[0]


def takes_sigint(pid):
    """The programs block their signals, and wait for them, before they do anything else."""
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        blocked = next(line for line in status if line.startswith("SigBlk"))
    return int(blocked.split()[1], 16) & (1 << (signal.SIGINT - 1))


class WhileAnswering(ProgramTest):
    def test_sigint_and_sigterm_end_it_with_nothing_left_behind(self):
        for number, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)):
            with self.subTest(number):
                process = self.start(self.generate("--ignore-eos"))
                self.server_of(process)
                process.stdout.read(1)
                process.send_signal(number)
                _, said = process.communicate(timeout=PATIENCE)
                self.assertEqual((process.returncode, said), (status, b""))

    def test_json_holds_what_was_answered_until_then(self):
        process = self.start([*self.generate("--ignore-eos"), "--json"])
        server = self.server_of(process)
        wait_until("it answers", lambda: processor_time(server) > 0.5)  # a load of the small model takes 0.1
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=PATIENCE)
        answer = json.loads(out)
        self.assertEqual((process.returncode, answer["finish_reason"]), (130, "cancelled"))
        self.assertGreater(len(answer["text"]), 0)

    def test_a_reader_that_does_not_read_cannot_hold_it(self):
        process = self.start(self.generate("--ignore-eos"))
        fcntl.fcntl(process.stdout, fcntl.F_SETPIPE_SZ, 4096)  # one page: full as soon as it holds anything
        self.server_of(process)
        wait_until("a full pipe", lambda: unread_bytes(process.stdout))
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(PATIENCE), 130)

    def test_sigint_is_taken_even_where_a_script_ignores_it_for_its_jobs(self):
        shell = ["sh", "-c", 'trap "" INT; exec "$@"', "sh", *self.generate("--ignore-eos")]
        process = self.start(shell)
        self.server_of(process)
        process.stdout.read(1)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 130)

    def test_nohup_holds(self):
        shell = ["sh", "-c", 'trap "" HUP; exec "$@"', "sh", *self.generate("-n", "200", "--ignore-eos")]
        process = self.start(shell)
        self.server_of(process)
        first = os.read(process.stdout.fileno(), 1)  # past the stream's own buffer, which communicate() forgets
        process.send_signal(signal.SIGHUP)
        out, _ = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 0)
        self.assertEqual((first + out).decode(), self.run_json(self.generate("-n", "200", "--ignore-eos"))["text"])


class WhileLoading(ProgramTest):
    def setUp(self):
        super().setUp()
        self.pack = write_pack(self.folder / "pack")

    def test_a_deaf_server_is_killed_and_the_program_ends(self):
        for words in ([TOOL, "generate", "-p", "x"], [CHAT, "-p", "x"], [CHAT]):
            with self.subTest(words):
                process = self.start([*words, "-m", model(), "--engine", self.pack])
                self.server_of(process)
                process.send_signal(signal.SIGINT)
                out, said = process.communicate(timeout=PATIENCE)
                self.assertEqual((process.returncode, out), (130, b""))
                self.assertNotIn(b"[", said)

    def test_json_says_cancelled(self):
        process = self.start([TOOL, "generate", "-p", "x", "-m", model(), "--engine", self.pack, "--json"])
        self.server_of(process)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=PATIENCE)
        answer = json.loads(out)
        self.assertEqual((process.returncode, answer["error"]["code"]), (130, "cancelled"))
        self.assertEqual(answer["events"][0]["kind"], "started")

    def test_a_load_that_is_silent_too_long_fails(self):
        words = [TOOL, "generate", "-p", "x", "-m", model(), "--engine", self.pack, "--load-silence", "0.2"]
        self.assert_error(self.run_program(words), 1, "[load_stalled]")
        answer = self.run_json(words, status=1)
        self.assertEqual((answer["error"]["code"], answer["error"]["phase"]), ("load_stalled", "load"))
        self.assertIn("main: loading model", answer["error"]["last_lines"])
        self.assertEqual(answer["events"][-1]["kind"], "failed")


class WhileReadingThePrompt(ProgramTest):
    def test_sigint_ends_the_wait_for_a_prompt(self):
        ours, theirs = os.pipe()
        self.addCleanup(os.close, theirs)
        process = self.start(self.generate(prompt="-"), stdin=ours)
        os.close(ours)
        os.write(theirs, b"half a pro")
        wait_until("it takes signals", lambda: takes_sigint(process.pid))
        process.send_signal(signal.SIGINT)
        out, said = process.communicate(timeout=PATIENCE)
        self.assertEqual((process.returncode, out, said), (130, b"", b""))


if __name__ == "__main__":
    unittest.main()
