"""AMD's GPUs as the kernel's compute driver lists them; the same reading as in src/device/kfd.cpp and gfx.cpp."""

import os
import re
from pathlib import Path
from typing import NamedTuple

from .errors import EngineError

OVERRIDE = "HSA_OVERRIDE_GFX_VERSION"


class Gpu(NamedTuple):
    gfx: str  # "gfx1201", of the hardware
    effective_gfx: str  # what the user's override makes of it: the code that it will be given

    def __str__(self):
        return self.gfx if self.gfx == self.effective_gfx else f"{self.gfx} as {self.effective_gfx}"


def gpus(root="/", environment=os.environ):
    """The GPUs below `root`/sys, by node number. EngineError where an override is malformed and a GPU is there."""
    nodes = read_nodes(Path(root) / "sys/class/kfd/kfd/topology/nodes")
    if not nodes:
        return []  # and no override matters
    every, single = overrides(environment)
    return [Gpu(gfx, single.get(node) or every or gfx) for node, gfx in nodes]


def read_nodes(folder):
    """[(node id, gfx)]; a node without a GPU has the version 0."""
    try:
        names = [name for name in os.listdir(folder) if name.isascii() and name.isdigit()]
    except OSError:
        return []
    nodes = []
    for name in sorted(names, key=int):
        versions = re.findall(r"^gfx_target_version ([0-9]+)$", small_text(folder / name / "properties"), re.MULTILINE)
        if gfx := versions and gfx_name(int(versions[-1])):
            nodes.append((int(name), gfx))
    return nodes


def small_text(path):
    """64 KiB of a file at most; nothing of what is no file or may not be read, as a container can have it."""
    try:
        if not path.is_file():
            return ""
        with open(path, errors="replace") as file:
            return file.read(64 << 10)
    except OSError:
        return ""


def gfx_name(version):
    """90010 is gfx90a: major * 10000 + minor * 100 + stepping, the last two of them as hexadecimal digits."""
    major, minor, stepping = version // 10000, version // 100 % 100, version % 100
    if not 0 < major <= 63 or minor > 15 or stepping > 15:
        return None
    return f"gfx{major}{minor:x}{stepping:x}"


def overrides(environment):
    """(gfx for every GPU or None, {node id: gfx})"""
    every, single = None, {}
    for name, text in environment.items():
        match = re.fullmatch(OVERRIDE + r"(?:_([0-9]+))?", name, re.ASCII)
        if not match or not text:
            continue
        parts = re.fullmatch(r"([0-9]+)\.([0-9]+)\.([0-9]+)", text, re.ASCII)
        numbers = [int(part) for part in parts.groups()] if parts else []
        if not parts or numbers[0] > 63 or max(numbers) > 255:
            raise EngineError(f"{name}={text} is no version such as 11.0.0: ROCm finds no GPU with it; "
                              "correct it or unset it")
        gfx = f"gfx{numbers[0]}{numbers[1]:x}{numbers[2]:x}"
        if match[1]:
            single[int(match[1])] = gfx
        else:
            every = gfx
    return every, single
