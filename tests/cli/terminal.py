"""A program on a terminal of its own."""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time

from support import PATIENCE

IUTF8 = 0o40000  # what terminals of today set: a typed umlaut is one character to the kernel too
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[()][A-Z0-9]|\x1b[=>]")


class Terminal:
    """Types what it is told to, and waits for what should appear."""

    def __init__(self, words, environment, stdout=None):
        self.master, slave = pty.openpty()
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        modes = termios.tcgetattr(slave)
        modes[0] |= IUTF8
        termios.tcsetattr(slave, termios.TCSANOW, modes)
        self.raw = ""
        self.read_to = 0
        self.process = subprocess.Popen([str(word) for word in words], stdin=slave, stdout=stdout or slave,
                                        stderr=slave, env=environment, start_new_session=True,
                                        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(slave)

    @property
    def seen(self):
        """All that it has shown, without what only moves the cursor or colours the text."""
        return ESCAPES.sub("", self.raw).replace("\r", "")

    def type(self, text):
        os.write(self.master, text.encode())

    def enter(self, text):
        self.type(text + "\r")

    def _read(self, limit):
        if not select.select([self.master], [], [], max(0, limit - time.monotonic()))[0]:
            return False
        try:
            data = os.read(self.master, 65536)
        except OSError:  # the last program on it has gone
            data = b""
        self.raw += data.decode(errors="replace")
        return bool(data)

    def expect(self, pattern):
        """Waits until it shows this, after what was expected before; returns the match."""
        limit = time.monotonic() + PATIENCE
        while True:
            match = re.compile(pattern, re.DOTALL).search(self.seen, self.read_to)
            if match:
                self.read_to = match.end()
                return match
            if not self._read(limit):
                raise AssertionError(f"{pattern!r} was not shown; the end of what was:\n{self.seen[-3000:]}")

    def end(self):
        """Its exit status, when it has ended by itself. Shows the rest of what it had to say."""
        limit = time.monotonic() + PATIENCE
        while self._read(limit):
            pass
        return self.process.wait(max(1, limit - time.monotonic()))

    def hang_up(self):
        os.close(self.master)
        self.master = -1

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        if self.master >= 0:
            os.close(self.master)
