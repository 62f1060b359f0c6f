"""An archive, a file or an address, whose hash has been compared before anybody reads in it."""

import contextlib
import os
import stat

from . import download
from .errors import NotAvailable, Untrusted
from .files import locked, sha256
from .progress import Progress


@contextlib.contextmanager
def verified(word, digest, cache):
    """The archive, open, its hash having been compared. What was fetched is kept until a pack has come of it."""
    if not download.is_address(word):
        with open_file(word) as file:
            compare(word, sha256_of(file), digest)
            yield file
        return
    place = cache / "archives"
    place.mkdir(parents=True, exist_ok=True)
    with locked(place):
        path = place / digest
        if not path.exists() or sha256(path) != digest:
            fetch(word, digest, path)
        with open_file(path) as file:
            yield file
        path.unlink()


def fetch(url, digest, path):
    aside = path.with_suffix(".part")
    for left_over in path.parent.glob("*.part"):  # of a run that was killed: the lock is ours
        left_over.unlink()
    path.unlink(missing_ok=True)
    try:
        compare(download.shown(url), download.fetch(url, aside), digest)
        aside.rename(path)
    finally:
        aside.unlink(missing_ok=True)


def open_file(path):
    """For reading, without a buffer: other programs read from the same handle."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # a FIFO would block for ever
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise NotAvailable(f"not available: {path} is no file")
    return open(handle, "rb", buffering=0)


def sha256_of(file):
    size = os.fstat(file.fileno()).st_size
    with Progress("hashed", size) as progress:
        digest = sha256(f"/proc/self/fd/{file.fileno()}", progress.add)
    return digest


def compare(name, found, wanted):
    if found != wanted:
        raise Untrusted(f"wrong hash: {name} has SHA-256 {found}, not {wanted}; nothing of it was unpacked")


def origin(word):
    """For engine.json: an address without secrets, a file without its folder."""
    return download.shown(word) if download.is_address(word) else os.path.basename(word)
