"""A pack out of an archive: a release of llama.cpp, or a pack that tools/package-engine has written."""

import os
import platform
import posixpath
import re
import shutil

from . import commands, elf, libraries
from .errors import BadArchive, Damaged, NotAvailable, WrongMachine
from .pack import CPU_PLUGIN, DESCRIPTION, PLUGIN, SERVER, TOOLS, Pack, make_independent
from .system import OWN_LIBRARY, PLUGIN_KINDS, refuse_wrong_libraries
from .unpack import unpack
from .verified import origin, verified

LARGEST_DESCRIPTION = 4 << 20  # bytes, as in src/engine
DATA_FOLDERS = ["rocblas", "hipblaslt"]  # kernels that ROCm's libraries look for beside themselves
LIBRARY = re.compile(r"lib[^/]*\.so(\.[0-9.]+)?$")


def fill(folder, target, options, cache):
    """Fills the empty `folder`; (loader, source) for engine.json."""
    commands.require("patchelf", "ldd")
    with verified(options.archive, options.sha256, cache) as file:
        root = folder / ".root"
        root.mkdir()
        tree = unpack(file, root)
        server = find_server(tree)
        check_machine(tree, server)
        home = posixpath.dirname(server)
        source = {"kind": "archive", "suite": None, "packages": [], "from": origin(options.archive),
                  "sha256": options.sha256}
        if posixpath.join(home, DESCRIPTION) in tree.files:
            pack = read_pack(root / home, options)
            put(folder, tree, home)
            shutil.rmtree(root)
            restore(folder, target, pack)
            return pack["loader"], source | {"pack": pack["source"]}
        loader = gather(folder, options, tree, server)
        shutil.rmtree(root)
        make_independent(folder, target, loader)
        libraries.refuse_missing(folder, loader)
        return loader, source


# ---- what is in it


def find_server(tree):
    """The name of the llama-server that lies nearest to the top."""
    found = sorted((name.count("/"), name) for name in tree.names() if posixpath.basename(name) == SERVER)
    if not found:
        if any(posixpath.basename(name) == f"{SERVER}.exe" for name in tree.names()):
            raise WrongMachine(f"wrong machine: the archive holds {SERVER}.exe, a build for Windows")
        raise NotAvailable(f"not available: the archive holds no {SERVER}")
    if len(found) > 1 and found[0][0] == found[1][0]:
        raise NotAvailable(f"not available: the archive holds both {found[0][1]} and {found[1][1]}")
    return found[0][1]


def check_machine(tree, server):
    machine = elf.machine(tree.file(server))
    if machine is None:
        raise WrongMachine(f"wrong machine: {server} in the archive is no program for Linux")
    if machine != platform.machine():
        raise WrongMachine(f"wrong machine: {server} in the archive is for {machine}, this is {platform.machine()}")


# ---- a pack


def read_pack(inside, options):
    if (inside / DESCRIPTION).stat().st_size > LARGEST_DESCRIPTION:
        raise BadArchive(f"bad archive: its {DESCRIPTION} is far too long")
    try:
        pack = Pack.read(inside)
    except (RecursionError, Damaged):
        raise BadArchive(f"bad archive: its {DESCRIPTION} cannot be read") from None
    loader = pack.description.setdefault("loader", None)
    if pack["executable"] != SERVER or not (loader is None or loader in pack["files"] and "/" not in loader):
        raise BadArchive(f"bad archive: its {DESCRIPTION} names programs that no pack has")
    if pack["flavour"] != options.flavour:
        raise NotAvailable(f"not available: the archive is a {pack['flavour']} pack, not {options.flavour}")
    for tool in TOOLS if options.with_tools else []:
        if tool not in pack["files"]:
            raise NotAvailable(f"not available: the archive holds no {tool}")
    return pack


def restore(folder, target, pack):
    """The pack as it was; only what names its place is made anew."""
    packed = Pack(folder, pack.description)
    packed.check_names()
    packed.check_hashes(list(pack["files"]))
    (folder / DESCRIPTION).unlink()
    loader = pack["loader"]
    for name in [SERVER, *TOOLS]:
        if (program := folder / name).exists():
            program.chmod(0o755)
            if loader:
                elf.set_interpreter(program, target / loader)
    if loader:
        (folder / loader).chmod(0o755)
    libraries.refuse_missing(folder, loader)


# ---- a release


def gather(folder, options, tree, server):
    """The server, its libraries and its plug-ins, flat; and data. The system's own libraries stay where they are.

    Gives the name of the loader where the archive brings one along, and None where the system's is used.
    """
    home = posixpath.dirname(server)
    places = [home, *(posixpath.normpath(posixpath.join(home, "..", name)) for name in ("lib", "lib64") if home)]
    beside = libraries_in(tree, places)
    programs = {SERVER: tree.file(server)}
    for tool in TOOLS if options.with_tools else []:
        programs[tool] = tree.file(posixpath.join(home, tool))
        if not programs[tool]:
            raise NotAvailable(f"not available: the archive holds no {tool}")
    linked, _ = elf.closure(programs.values(), beside.get)
    plugins = {name: path for name, path in wanted_plugins(beside, options.flavour) if path not in linked.values()}
    files, missing = elf.closure([*programs.values(), *plugins.values()], beside.get)
    refuse_wrong_libraries([*files, *missing], plugins.values(), options.flavour)
    for name, path in (programs | plugins).items():  # by the name that they are looked for, not that of a link's file
        files[name] = files.pop(path.name)
    if options.flavour != "cpu":
        for name, path in opened_by_name(beside, files).items():
            files.setdefault(name, path)
        for data in DATA_FOLDERS:
            if found := next((place for place in places if tree.below(posixpath.join(place, data))), None):
                put(folder / data, tree, posixpath.join(found, data))
    loader = posixpath.basename(elf.interpreter(programs[SERVER]))
    if own := next((path for place in places if (path := tree.file(posixpath.join(place, loader)))), None):
        files[loader] = own
    for name, path in files.items():
        os.link(path, folder / name)
    return loader if own else None


def libraries_in(tree, places):
    """{name: path} of the ELF libraries in these folders, the first counting."""
    found = {}
    for name in tree.names():
        place, base = posixpath.split(name)
        if place in places and LIBRARY.match(base) and elf.is_elf(tree.file(name)):
            if base not in found or places.index(place) < places.index(found[base][0]):
                found[base] = (place, tree.file(name))
    return {base: path for base, (_, path) in found.items()}


def wanted_plugins(beside, flavour):
    """(name, path) of those by their plain names; a back end that is linked has one with a version as well."""
    for base, path in sorted(beside.items()):
        match = PLUGIN.fullmatch(base)
        if match and base.endswith(".so"):
            if CPU_PLUGIN.match(base) and match[1] != "base" or match[1] in PLUGIN_KINDS[flavour]:
                yield base, path


def opened_by_name(beside, taken):
    """Libraries that no list of needed ones shows: ROCm's parts, where an archive brings them along."""
    others = {path for base, path in beside.items() if not OWN_LIBRARY.match(base)} - set(taken.values())
    return {elf.soname(path): path for path in sorted(others)}


# ---- both


def put(folder, tree, place):
    """The files of a folder in the archive, and the links to folders between them, below `folder`."""
    for name, path in tree.below(place).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        os.link(path, folder / name)
    for name, to in tree.folder_links_below(place).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).symlink_to(to)
