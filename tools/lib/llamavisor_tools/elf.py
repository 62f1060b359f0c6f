"""Reading and patching ELF files, by patchelf, so that a folder of them needs nothing around it."""

import os
import re

from .commands import output


def is_elf(path):
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


MACHINES = {3: "i386", 40: "arm", 62: "x86_64", 183: "aarch64", 243: "riscv64"}  # e_machine, as uname tells them


def machine(path):
    """What an ELF file runs on; None of any other file."""
    with open(path, "rb") as file:
        head = file.read(20)
    if len(head) < 20 or head[:4] != b"\x7fELF":
        return None
    number = int.from_bytes(head[18:20], "big" if head[5] == 2 else "little")
    return MACHINES.get(number, f"ELF machine {number}")


def needed(path):
    return output(["patchelf", "--print-needed", path]).split()


def soname(path):
    """The name by which others need a library, or its own."""
    return output(["patchelf", "--print-soname", path]).strip() or os.path.basename(path)


def interpreter(path):
    return output(["patchelf", "--print-interpreter", path]).strip()


def set_interpreter(path, loader):
    output(["patchelf", "--set-interpreter", loader, path])


def find_libraries_beside(paths):
    """$ORIGIN as the only place to look first; distributions' libraries carry a path of their own."""
    if paths:
        output(["patchelf", "--set-rpath", "$ORIGIN", *paths])


# ggml looks for plug-ins in a folder that was compiled in before it looks beside the executable. On a
# system that has such a folder, a pack would take its plug-ins, of another build, and a CPU pack
# would even find GPUs. The compiler may cut the string in two, so only its head can be relied upon.
PLUGIN_FOLDER = re.compile(rb"/usr/(?:local/)?lib[\w./-]*?/ggml")
NOWHERE = b"/proc/0/no"  # no process has the number 0, and nobody can make a folder there


def forget_plugin_folder(path):
    """Points a compiled-in plug-in folder at a place that cannot exist. True where there was one."""
    with open(path, "r+b") as file:
        data = file.read()
        places = [match.start() for match in PLUGIN_FOLDER.finditer(data)]
        for place in places:
            file.seek(place)
            file.write(NOWHERE)
    return bool(places)


def closure(roots, find):
    """{name: path} of the roots and all that they need; `find(name)` gives a path or None.

    Also the set of names that were not found.
    """
    found, missing = {}, set()
    waiting = [(os.path.basename(root), root) for root in roots]
    while waiting:
        name, path = waiting.pop()
        if name in found:
            continue
        found[name] = path
        for library in needed(path):
            if library in found or library in missing:
                continue
            place = find(library)
            if place:
                waiting.append((library, place))
            else:
                missing.add(library)
    return found, missing
