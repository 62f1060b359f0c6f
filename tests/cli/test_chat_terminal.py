"""`llamavisor-chat` as a person at a terminal has it."""

import os
import signal
import stat
import unittest

from support import ProgramTest, alive, wait_until, write_pack
from terminal import Terminal

CTRL_C, CTRL_D, UP = "\x03", "\x04", "\x1b[A"
FIGURES = r"\(\d+ tokens?[^\n]*on cpu \(build \d+\)\)\n"
PROMPT = r"\n> "


class ChatTerminalTest(ProgramTest):
    def open(self, *words, **options):
        terminal = Terminal(self.chat(*words), self.environment, **options)
        self.addCleanup(terminal.close)
        self.server_of(terminal.process)
        return terminal

    def open_ready(self, *words):
        terminal = self.open(*words)
        terminal.expect(PROMPT)
        return terminal

    def quit(self, terminal):
        terminal.enter("/quit")
        self.assertEqual(terminal.end(), 0)


class Conversation(ChatTerminalTest):
    def test_it_shows_the_load_the_answer_and_its_figures(self):
        terminal = self.open("-n", "8")
        terminal.expect("loading tiny-ascii.gguf on cpu")
        terminal.expect(PROMPT)
        terminal.enter("hello")
        terminal.expect(FIGURES)
        terminal.expect("> ")
        self.quit(terminal)

    def test_the_bar_of_the_load_is_wiped(self):
        terminal = self.open_ready("-n", "8")
        last = terminal.raw.rindex("loading tiny-ascii.gguf")
        self.assertIn("\r\x1b[K", terminal.raw[last:])
        self.quit(terminal)

    def test_ctrl_d_ends_it(self):
        terminal = self.open_ready()
        terminal.type(CTRL_D)
        self.assertEqual(terminal.end(), 0)

    def test_a_line_can_be_edited(self):
        terminal = self.open_ready("-n", "8")
        terminal.type("/statsxö")
        terminal.expect("xö")
        terminal.type("\x7f\x7f\r")
        terminal.expect("context +0 of")
        self.quit(terminal)

    def test_colours_are_for_terminals_of_people_who_want_them(self):
        coloured = self.open_ready()
        self.quit(coloured)
        self.assertIn("\x1b[2m", coloured.raw)
        self.environment["NO_COLOR"] = "1"
        plain = self.open_ready()
        self.quit(plain)
        self.assertNotRegex(plain.raw, r"\x1b\[[0-9;]*m")

    def test_answers_go_to_a_file_and_the_conversation_stays_on_the_terminal(self):
        with open(self.folder / "answers", "wb") as file:
            terminal = self.open("-n", "8", stdout=file)
        terminal.expect(PROMPT)
        terminal.enter("hello")
        terminal.expect(FIGURES)
        self.quit(terminal)
        once = self.run_program(self.chat("-n", "8", "-p", "hello"))
        self.assertEqual((self.folder / "answers").read_bytes(), once.stdout)


class CtrlC(ChatTerminalTest):
    def test_it_cancels_the_answer_and_neither_the_program_nor_the_server(self):
        terminal = self.open_ready("--ignore-eos")
        terminal.enter("hello")
        terminal.expect(r"hello\n[^\n]")
        terminal.type(CTRL_C)
        terminal.expect(r"\(cancelled\)\n" + FIGURES)
        self.assertTrue(alive(self.servers[0]))
        terminal.enter("/stats")
        terminal.expect("process 1 of this model")
        self.quit(terminal)

    def test_it_gives_up_the_line(self):
        terminal = self.open_ready("-n", "8")
        terminal.type("half a thought")
        terminal.expect("half a thought")
        terminal.type(CTRL_C)
        terminal.expect(r"\^C\n> ")
        terminal.enter("/stats")
        terminal.expect("answers +0")
        self.quit(terminal)

    def test_it_ends_a_load_within_the_grace(self):
        terminal = self.open("--engine", write_pack(self.folder / "pack"))
        terminal.expect("loading tiny-ascii.gguf on cpu")
        terminal.type(CTRL_C)
        self.assertEqual(terminal.end(), 130)


class Ends(ChatTerminalTest):
    def test_a_terminal_that_hangs_up_ends_it_with_nothing_left_behind(self):
        terminal = self.open_ready()
        terminal.hang_up()
        wait_until("its end", lambda: terminal.process.poll() is not None)
        self.assertIn(terminal.process.returncode, (0, 129))  # the end of the input, or SIGHUP: both at once

    def test_sigterm_ends_it_at_the_prompt_and_in_an_answer(self):
        for words in ((), ("hello",)):
            with self.subTest(words):
                terminal = self.open_ready("--ignore-eos")
                for word in words:
                    terminal.enter(word)
                    terminal.expect(word + r"\n[^\n]")
                terminal.process.send_signal(signal.SIGTERM)
                self.assertEqual(terminal.end(), 143)


class ServerDeath(ChatTerminalTest):
    def test_one_at_the_prompt_is_told_above_the_line_and_the_chat_goes_on(self):
        terminal = self.open_ready("-n", "8")
        terminal.type("/sta")
        terminal.expect("/sta")
        os.kill(self.servers[0], signal.SIGKILL)
        terminal.expect(r"\n?! [^\n]*SIGKILL[^\n]*\n")
        terminal.expect("> /sta")
        terminal.enter("ts")
        terminal.expect("context +0 of")
        terminal.enter("hello")
        terminal.expect(FIGURES)
        self.server_of(terminal.process)
        self.quit(terminal)

    def test_one_in_an_answer_that_may_not_be_replaced_ends_the_turn_alone(self):
        terminal = self.open_ready("--ignore-eos", "--fallback", "never")
        terminal.enter("hello")
        terminal.expect(r"hello\n[^\n]")
        os.kill(self.servers[0], signal.SIGKILL)
        terminal.expect(r"llamavisor-chat: [^\n]*SIGKILL[^\n]*\[server_died\]\n")
        terminal.expect("> ")
        terminal.enter("again")
        terminal.expect("starting its server again")
        self.server_of(terminal.process)
        terminal.expect(r"\)\n.")
        terminal.type(CTRL_C)
        terminal.expect(FIGURES)
        self.quit(terminal)


class History(ChatTerminalTest):
    def test_lines_come_back_in_the_next_chat(self):
        first = self.open_ready("-n", "8")
        first.enter("smörgåsbord")
        first.expect(FIGURES)
        self.quit(first)
        second = self.open_ready("-n", "8")
        second.type(UP + UP)
        second.expect("smörgåsbord")
        second.type(CTRL_C)
        second.expect(r"\^C\n> ")
        self.quit(second)

    def test_nobody_else_may_read_it(self):
        terminal = self.open_ready("-n", "8")
        self.quit(terminal)
        folder = self.folder / "state/llamavisor"
        file = folder / "chat_history"
        self.assertEqual(file.read_text(), "/quit\n")
        self.assertEqual([stat.S_IMODE(path.stat().st_mode) for path in (folder, file)], [0o700, 0o600])

    def test_a_long_one_is_cut_to_its_last_lines(self):
        file = self.folder / "state/llamavisor/chat_history"
        file.parent.mkdir(parents=True)
        file.write_text("".join(f"line {number}\n" for number in range(2500)))
        terminal = self.open_ready("-n", "8")
        terminal.type(UP)
        terminal.expect("line 2499")
        terminal.type(CTRL_C)
        terminal.expect(r"\^C\n> ")
        self.quit(terminal)
        lines = file.read_text().splitlines()
        self.assertEqual((len(lines), lines[0], lines[-1]), (1001, "line 1500", "/quit"))

    def test_a_place_that_cannot_be_written_stops_nothing(self):
        self.environment["XDG_STATE_HOME"] = "/dev/null/none"
        terminal = self.open_ready("-n", "8")
        self.quit(terminal)


if __name__ == "__main__":
    unittest.main()
