"""Progress on stderr: one line that changes on a terminal, a plain line now and then elsewhere."""

import sys
import time

MIB = 1 << 20
program = "get-engine"  # who speaks; other scripts set their own name


def say(text):
    print(f"{program}: {text}", file=sys.stderr, flush=True)


def mib(count):
    return f"{count / MIB:.1f} MiB" if count < 100 * MIB else f"{count / MIB:.0f} MiB"


class Progress:
    """`with Progress("fetching", total) as progress: progress.at(done)`; counts bytes unless told.

    A total that is not known is None.
    """

    TERMINAL_PERIOD, PLAIN_PERIOD = 0.1, 5.0  # seconds

    def __init__(self, label, total, show=mib, stream=None):
        self.label, self.total, self.show = label, total, show
        self.stream = stream or sys.stderr
        self.terminal = self.stream.isatty()
        self.period = self.TERMINAL_PERIOD if self.terminal else self.PLAIN_PERIOD
        self.last = time.monotonic()
        self.done = 0

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is None:
            self.print(self.done if self.total is None else self.total)
        if self.terminal:
            self.stream.write("\n")
            self.stream.flush()

    def at(self, done):
        self.done = done
        if time.monotonic() - self.last >= self.period:
            self.print(done)

    def add(self, count):
        self.at(self.done + count)

    def print(self, done):
        self.last = time.monotonic()
        amount = self.show(done)
        if self.total is not None:
            amount = f"{self.show(min(done, self.total))} of {self.show(self.total)}"
        line = f"{program}: {self.label}: {amount}"
        self.stream.write(f"\r{line}\033[K" if self.terminal else f"{line}\n")
        self.stream.flush()
