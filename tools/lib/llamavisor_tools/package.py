"""A pack as one archive, for other machines: the same pack gives the same bytes."""

import contextlib
import hashlib
import io
import json
import os
import re
import subprocess
import tarfile
import tempfile
from pathlib import Path

from . import commands, elf
from .errors import Damaged, EngineError, NoSpace, NotAvailable, no_space_text
from .files import sha256
from .pack import DESCRIPTION, SERVER, TOOLS, Pack
from .progress import Progress, mib, say

COMPRESSION = "-9"  # Vulkan's pack, 344 MiB: 90 MB in 7 s; -15 takes ten times as long for 2 % less


def package(folder, flavour, into):
    """Writes the archive into the folder `into`; its SHA-256."""
    commands.require("zstd")
    pack = Pack.read(os.path.realpath(folder))
    if pack["flavour"] != flavour:
        raise NotAvailable(f"not available: {pack.folder} is a {pack['flavour']} pack, not {flavour}")
    pack.check_names()
    pack.check_hashes(list(pack["files"]))
    pack.refuse_wrong_plugins()
    name = f"llamavisor-linux-{machine(pack)}-{flavour}"
    target = Path(into).absolute() / f"{name}.tar.zst"
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, aside = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with open(handle, "wb") as file:
            write(pack, name, file)
        os.chmod(aside, 0o644)
        digest = sha256(aside)
        os.replace(aside, target)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(aside)
    say(f"{target} is ready: {mib(target.stat().st_size)}")
    return digest


def machine(pack):
    found = elf.machine(pack.folder / SERVER)
    if found is None:
        raise Damaged(f"{pack.folder} is damaged: its {SERVER} is no program")
    return found


def write(pack, top, file):
    child = subprocess.Popen(["zstd", "-q", "-T0", COMPRESSION, "-c"], stdin=subprocess.PIPE, stdout=file,
                             stderr=subprocess.PIPE, env=dict(os.environ, LC_ALL="C"))
    try:
        with contextlib.suppress(BrokenPipeError):  # zstd says why itself
            with tarfile.open(fileobj=child.stdin, mode="w|", format=tarfile.PAX_FORMAT) as tar:
                fill(tar, pack, top)
            child.stdin.close()
        words = child.stderr.read().decode(errors="replace")
        if child.wait() != 0:
            error = NoSpace if no_space_text(words) else EngineError
            raise error(f"zstd failed: {commands.last_line(words)}")
    finally:
        with contextlib.suppress(BrokenPipeError):
            child.stdin.close()
        commands.end(child)
        child.stderr.close()


def fill(tar, pack, top):
    time = time_of(pack)
    neutral = {name: without_place(pack, name) for name in [SERVER, *TOOLS] if name in pack["files"]}
    files = [*pack["files"], *folder_links(pack.folder)]
    total = sum((pack.folder / name).stat().st_size for name in pack["files"])
    with Progress("packed", total) as progress:
        add(tar, f"{top}/{DESCRIPTION}", time, description(pack, neutral), 0o644)
        for name in sorted(files):
            path = pack.folder / name
            if path.is_symlink() and path.is_dir():
                add_link(tar, f"{top}/{name}", time, os.readlink(path))
                continue
            runs = name in [SERVER, *TOOLS, pack.description.get("loader")]
            add(tar, f"{top}/{name}", time, neutral.get(name) or path, 0o755 if runs else 0o644)
            progress.add(path.stat().st_size)


def folder_links(folder):
    """Names of links to folders, which a pack's list of files does not have; they must stay inside."""
    found = []
    for place, names, _ in os.walk(folder):
        for name in names:
            path = Path(place) / name
            if path.is_symlink():
                if os.path.isabs(os.readlink(path)) or Path(folder) not in path.resolve().parents:
                    raise Damaged(f"{folder} is damaged: {path} leads out of it")
                found.append(os.path.relpath(path, folder))
    return found


def member(name, time):
    info = tarfile.TarInfo(name)
    info.mtime = time  # owner and group are 0 and nameless already
    return info


def add(tar, name, time, content, mode):
    """`content` is bytes or the path of a file."""
    info = member(name, time)
    info.mode = mode
    with io.BytesIO(content) if isinstance(content, bytes) else open(content, "rb") as file:
        info.size = len(content) if isinstance(content, bytes) else os.fstat(file.fileno()).st_size
        tar.addfile(info, file)


def add_link(tar, name, time, target):
    info = member(name, time)
    info.type, info.linkname, info.mode = tarfile.SYMTYPE, target, 0o777
    tar.addfile(info)


def time_of(pack):
    """Seconds. Programs are left out: they are written again wherever a pack is moved to."""
    named = os.environ.get("SOURCE_DATE_EPOCH", "")
    if named:
        if not re.fullmatch(r"[0-9]{1,11}", named, re.ASCII):
            raise EngineError(f"SOURCE_DATE_EPOCH={named} is no number of seconds")
        return int(named)
    libraries = [name for name in pack["files"] if name not in [SERVER, *TOOLS]]
    return max((int((pack.folder / name).stat().st_mtime) for name in libraries or pack["files"]), default=0)


def without_place(pack, name):
    """A program's bytes without the folder that its loader has here, which may tell a user's name."""
    path = pack.folder / name
    content = path.read_bytes()
    loader = pack.description.get("loader")
    if not loader:
        return content
    here = os.fsencode(elf.interpreter(path)) + b"\0"
    if content.count(here) != 1:
        raise Damaged(f"{pack.folder} is damaged: the loader's path in {name} cannot be told")
    return content.replace(here, f"/{loader}".encode().ljust(len(here), b"\0"))


def description(pack, neutral):
    """engine.json, of no place; `get-engine` writes its own from what it finds."""
    changed = {name: hashlib.sha256(content).hexdigest() for name, content in neutral.items()}
    whole = pack.description | {
        "path": "",
        "start": "loader" if pack.description.get("loader") else "direct",
        "source": {key: text for key, text in pack["source"].items() if key != "path"},
        "files": dict(sorted((pack["files"] | changed).items())),
    }
    return (json.dumps(whole, indent=1, ensure_ascii=False) + "\n").encode()
