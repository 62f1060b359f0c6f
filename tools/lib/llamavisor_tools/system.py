"""A pack out of the llama-server that is on PATH: it, its own libraries and its ggml plug-ins.

The system's libraries (libc, drivers, CUDA, ROCm) stay where they are.
"""

import os
import re
import shutil
from pathlib import Path

from . import commands, elf
from .errors import Damaged, NotAvailable
from .files import check_space
from .pack import CPU_PLUGIN, GPU_LIBRARY, PLUGIN, SERVER, TOOLS, gpu_plugins, make_independent
from .progress import say

SYSTEM_FOLDERS = re.compile(r"/(usr/)?lib(32|64|x32)?/")
OWN_LIBRARY = re.compile(r"lib(llama|ggml|mtmd)")
PLUGIN_KINDS = {"cpu": [], "vulkan": ["vulkan"], "hip": ["hip"]}


def fill(folder, target, flavour, with_tools):
    """Fills the empty `folder`; (loader, source) for engine.json."""
    commands.require("ldd", "patchelf")
    server = find_server()
    programs = [server, *(server.parent / tool for tool in (TOOLS if with_tools else []))]
    for program in programs:
        if not program.exists():
            raise NotAvailable(f"{program.name} is not beside {server}")
    say(f"taking {server}")
    plugins = choose_plugins(server, flavour)
    libraries = {}
    for path in [*programs, *plugins]:
        libraries.update(linked_libraries(path))
    refuse_wrong_libraries(libraries, plugins, flavour)
    loader = foreign_loader(server)
    files = {path.name: path for path in [*programs, *plugins]}
    files.update((name, path) for name, path in libraries.items() if travels(name, path))
    if loader:
        files[loader.name] = loader
    check_space([(folder.parent, sum(path.stat().st_size for path in files.values()))])
    for name, path in files.items():
        shutil.copyfile(path, folder / name)
    make_independent(folder, target, loader and loader.name)
    return loader and loader.name, {"kind": "system", "suite": None, "packages": [], "path": str(server)}


def find_server():
    found = shutil.which(SERVER)
    if not found:
        raise NotAvailable(f"no {SERVER} on PATH to make a pack of")
    real = Path(os.path.realpath(found))
    if not elf.is_elf(real):
        raise NotAvailable(f"{found} is no program but a script: put the {SERVER} that it starts on PATH")
    return real


def linked_libraries(path):
    """{name: path} as the dynamic loader resolves them."""
    status, out, err = commands.capture(["ldd", path])
    if status != 0:
        raise Damaged(f"{path} cannot be looked into: {commands.last_line(err or out)}")
    if lost := re.search(r"(\S+) => not found", out):
        raise Damaged(f"{path.name} does not run here: {lost[1]} is not found")
    return {name: Path(place) for name, place in re.findall(r"^\s*(\S+) => (/.+?) \(0x", out, re.MULTILINE)}


def travels(name, path):
    """Whether a library goes into the pack: its own ones, and all that no system folder holds."""
    return bool(OWN_LIBRARY.match(name)) or not SYSTEM_FOLDERS.match(os.path.realpath(path))


def foreign_loader(server):
    """The dynamic loader, where it is not the system's."""
    path = elf.interpreter(server)
    return None if SYSTEM_FOLDERS.match(path) else Path(path)


def plugin_folders(server):
    """Beside the executable, and beside the ggml library, where distributions keep them."""
    folders = [server.parent]
    for name, path in linked_libraries(server).items():
        if name.startswith("libggml.so"):
            folders += [path.parent, *sorted(path.parent.glob("ggml/backends*")), path.parent / "ggml"]
    return folders


def choose_plugins(server, flavour):
    wanted = {}
    for folder in plugin_folders(server):
        for path in sorted(folder.glob("libggml-*.so")):
            kind = PLUGIN.match(path.name)[1]
            if CPU_PLUGIN.match(path.name) and kind != "base" or kind in PLUGIN_KINDS[flavour]:
                wanted.setdefault(path.name, path)
    return list(wanted.values())


def refuse_wrong_libraries(libraries, plugins, flavour):
    """A CPU pack must not even link a GPU library; a GPU pack must have its own back end."""
    names = [*libraries, *(path.name for path in plugins)]
    gpu = sorted({*gpu_plugins(names), *filter(GPU_LIBRARY.match, names)})
    if flavour == "cpu" and gpu:
        raise NotAvailable(f"this {SERVER} is linked with {gpu[0]}: no CPU pack can be made of it")
    backend = {"vulkan": r"lib(ggml-)?vulkan", "hip": r"lib(ggml-hip|amdhip64)"}.get(flavour)
    if backend and not any(re.match(backend, name) for name in names):
        raise NotAvailable(f"this {SERVER} has no {flavour} back end")
