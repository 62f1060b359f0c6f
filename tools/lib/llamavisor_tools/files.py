"""Folders that appear whole or not at all, the room that they need, and their hashes."""

import contextlib
import ctypes
import fcntl
import hashlib
import os
import shutil
import tempfile
from pathlib import Path

from .errors import NoSpace
from .progress import mib, say


def sha256(path, count=lambda size: None):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
            count(len(block))
    return digest.hexdigest()


def existing_ancestor(path):
    path = Path(path)
    while not path.exists():
        path = path.parent
    return path


def check_space(needs):
    """`needs` is [(folder, bytes)]; folders of one file system share its room."""
    devices = {}
    for folder, size in needs:
        place = existing_ancestor(folder)
        entry = devices.setdefault(place.stat().st_dev, [place, 0])
        entry[1] += size
    for place, size in devices.values():
        status = os.statvfs(place)
        free = status.f_bavail * status.f_frsize
        if free < size:
            raise NoSpace(f"no space: {place} has {mib(free)} free, {mib(size)} are needed")


@contextlib.contextmanager
def parent_of(target):
    """Makes the folder around `target`; takes it away again if nothing came of it."""
    made = []
    parent = target.parent
    while not parent.exists():
        made.append(parent)
        parent = parent.parent
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        yield target.parent
    finally:
        with contextlib.suppress(OSError):  # not empty: something did
            for folder in made:
                folder.rmdir()


@contextlib.contextmanager
def locked(folder):
    """One writer among the packs of a folder; the folder itself is the lock, so no file stays."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("waiting for another get-engine")
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


@contextlib.contextmanager
def stage(target):
    """A folder beside `target` to build in; removed unless `swap_in` took it. Needs the lock."""
    prefix = f".{target.name}.new-"
    for left_over in target.parent.glob(f"{prefix}*"):  # of a run that was killed: the lock is ours
        shutil.rmtree(left_over, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=target.parent))
    try:
        folder.chmod(0o755)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def swap_in(folder, target):
    """`folder` becomes `target`; what was there before ends up under the name of `folder`."""
    if not target.exists():
        folder.rename(target)
    elif not exchange(folder, target):
        aside = folder.with_name(folder.name + ".old")
        target.rename(aside)
        folder.rename(target)
        aside.rename(folder)


def exchange(one, other):
    """Swaps two names in one step, so that nobody ever finds neither. False if it cannot be done."""
    at_cwd, exchange_flag = -100, 2
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):
        return False
    return rename(at_cwd, os.fsencode(one), at_cwd, os.fsencode(other), exchange_flag) == 0
