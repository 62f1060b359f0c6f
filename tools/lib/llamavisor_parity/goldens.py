"""The files of the gate: goldens, and the meta.json beside them (docs/parity.md)."""

import contextlib
import hashlib
import json
import os
import tempfile
from pathlib import Path

from .errors import ParityError

ENDING = ".jsonl"


def meta_path(goldens):
    goldens = Path(goldens)
    if goldens.suffix != ENDING:
        raise ParityError(f"{goldens} is no file of goldens: their name ends in {ENDING}")
    return goldens.with_suffix(".meta.json")


def check_name(goldens, kind):
    """A golden is never filed under another class of devices."""
    name = Path(goldens).name
    if not name.endswith(f"-{kind}{ENDING}"):
        raise ParityError(f"goldens of {kind} are called NAME-{kind}{ENDING}, not {name}")


class Aside:
    """A file that is made aside and renamed when it is whole; hashes what is written."""

    def __init__(self, path):
        self.path = Path(path)
        self.digest = hashlib.sha256()

    def __enter__(self):
        self.path.parent.mkdir(parents=True, exist_ok=True)
        handle, self.aside = tempfile.mkstemp(prefix=f".{self.path.name}.", dir=self.path.parent)
        self.file = open(handle, "wb", buffering=1 << 20)
        return self

    def write(self, content):
        self.digest.update(content)
        self.file.write(content)

    def __exit__(self, kind, *_):
        try:
            self.file.close()
            if kind is None:
                os.chmod(self.aside, 0o644)
                os.replace(self.aside, self.path)
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self.aside)


def line(value):
    """Pure ASCII; numbers as Python's repr has them, which gives the same doubles back."""
    return json.dumps(value, separators=(",", ":")).encode() + b"\n"


def write_meta(path, meta):
    with Aside(path) as out:
        out.write(json.dumps(meta, indent=1, ensure_ascii=False).encode() + b"\n")
