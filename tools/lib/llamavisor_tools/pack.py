"""A pack: a folder with a llama-server that runs as it is, and the engine.json that describes it."""

import json
import mmap
import os
import re
import subprocess
from pathlib import Path

from . import commands, elf
from .errors import Damaged
from .files import sha256
from .progress import Progress, say

SERVER = "llama-server"
TOOLS = ["llama-quantize", "llama-bench"]
DESCRIPTION = "engine.json"
FORMAT = 1
PROBE_LIMIT = 60  # seconds for a --version or --help

# No question that is asked here needs a device, and a bad driver could hang the answer.
NO_DEVICES = {
    "VK_DRIVER_FILES": "/dev/null",
    "ROCR_VISIBLE_DEVICES": "",
    "HIP_VISIBLE_DEVICES": "-1",
    "CUDA_VISIBLE_DEVICES": "-1",
    "GGML_NO_BACKTRACE": "1",
}
NOT_INHERITED = re.compile(r"LLAMA_|GGML_|LD_|AIP_|HF_|MTMD_|VK_")

CPU_PLUGIN = re.compile(r"libggml-(cpu|blas|base)\b")
PLUGIN = re.compile(r"libggml-([a-z0-9]+)[^/]*\.so")
GPU_LIBRARY = re.compile(r"lib(cuda|cudart|cublas|amdhip64|rocblas|hipblas|vulkan|OpenCL|ze_loader|sycl|musa)\b")


def gpu_plugins(names):
    """Those of these file names that are ggml's back ends for something else than the CPU."""
    return sorted(name for name in names if PLUGIN.match(name) and not CPU_PLUGIN.match(name))


class Pack:
    def __init__(self, folder, description):
        self.folder, self.description = Path(folder), description

    def __getitem__(self, key):
        return self.description[key]

    # ---- engine.json

    @classmethod
    def read(cls, folder):
        """The pack in `folder`; raises Damaged where there is none that can be understood."""
        path = Path(folder) / DESCRIPTION
        try:
            description = json.loads(path.read_text())
        except FileNotFoundError:
            raise Damaged(f"{folder} is no pack: it has no {DESCRIPTION}") from None
        except ValueError:
            raise Damaged(f"{path} cannot be read") from None
        keys = {"flavour": str, "executable": str, "start": str, "path": str, "source": dict, "files": dict}
        if (not isinstance(description, dict) or description.get("format") != FORMAT
                or not all(isinstance(description.get(key), kind) for key, kind in keys.items())):
            raise Damaged(f"{path} is not of format {FORMAT}")
        return cls(folder, description)

    def write(self):
        aside = self.folder / f".{DESCRIPTION}.new"
        try:
            aside.write_text(json.dumps(self.description, indent=1, ensure_ascii=False) + "\n")
            aside.replace(self.folder / DESCRIPTION)
        finally:  # of a full disk: a file too many is a damaged pack
            aside.unlink(missing_ok=True)

    # ---- verification

    def check_quickly(self):
        """Raises Damaged unless every file is there, unchanged, and nothing else is.

        A file that is not newer than engine.json was hashed when that was written; only newer ones
        are hashed again.
        """
        self.check_names()
        written = (self.folder / DESCRIPTION).stat().st_mtime_ns
        newer = [name for name in self["files"] if (self.folder / name).stat().st_mtime_ns > written]
        if newer:
            self.check_hashes(newer)
            os.utime(self.folder / DESCRIPTION)

    def check_names(self):
        listed, present = set(self["files"]), set(file_names(self.folder))
        if lost := listed - present:
            raise Damaged(f"{self.folder} is damaged: {sorted(lost)[0]} is missing")
        if strange := present - listed:
            raise Damaged(f"{self.folder} is damaged: {sorted(strange)[0]} does not belong there")

    def check_hashes(self, names):
        for name, digest in hashes(self.folder, names, "verifying").items():
            if digest != self["files"][name]:
                raise Damaged(f"{self.folder} is damaged: {name} has changed")

    def is_moved(self):
        return self["path"] != str(self.folder)

    # ---- running it

    def command(self, start=None):
        server = self.folder / self["executable"]
        if (start or self["start"]) == "loader":
            return [self.folder / self["loader"], server]
        return [server]

    def ask(self, *words, start=None):
        """What the server prints for --version and the like, devices hidden; Damaged if it fails."""
        environment = {key: text for key, text in os.environ.items() if not NOT_INHERITED.match(key)}
        environment.update(NO_DEVICES)
        try:
            status, out, err = commands.capture([*self.command(start), *words], environment,
                                                timeout=PROBE_LIMIT, cwd=self.folder)
        except subprocess.TimeoutExpired:
            raise Damaged(f"{SERVER} {words[0]} did not answer within {PROBE_LIMIT} s") from None
        except OSError as error:
            raise Damaged(f"{SERVER} does not start: {error.strerror}") from None
        if status != 0:
            raise Damaged(f"{SERVER} {words[0]} ended with status {status}: {commands.last_line(err)}")
        return out + err

    # ---- making and mending

    @classmethod
    def describe(cls, folder, target, flavour, loader, source):
        """Writes engine.json for a filled folder that is to become `target`."""
        pack = cls(folder, {
            "format": FORMAT, "flavour": flavour, "build": 0, "version": "", "executable": SERVER,
            "loader": loader, "start": "loader" if loader else "direct", "path": str(target), "flags": [],
            "source": source, "files": {}, "vulkan_icds": sorted(path.name for path in folder.glob("*_icd.json")),
        })
        pack.refuse_wrong_plugins()
        pack.description["build"], pack.description["version"] = parse_version(pack.ask("--version"))
        pack.description["flags"] = parse_flags(pack.ask("--help"))
        if flavour == "cpu":
            pack.refuse_devices()
        if flavour == "hip":
            pack.description["gfx_targets"] = gfx_targets(folder)
        pack.description["files"] = hashes(folder, file_names(folder), "hashing")
        pack.description["start"] = "direct"
        pack.write()
        return pack

    def refuse_wrong_plugins(self):
        found = gpu_plugins(file_names(self.folder))
        if self["flavour"] == "cpu" and found:
            raise Damaged(f"a CPU pack must hold no GPU plug-in, but this build has {found[0]}")

    def refuse_devices(self):
        devices = parse_devices(self.ask("--list-devices"))
        if devices:
            raise Damaged(f"a CPU pack must know no GPU, but this build lists {devices[0]}")

    def settle(self):
        """In its final place: starts directly if it can, by its own loader if not."""
        try:
            self.ask("--version", start="direct")
            start = "direct"
        except Damaged:
            if not self["loader"]:
                raise
            self.ask("--version", start="loader")
            start = "loader"
        if start != self["start"]:
            self.description["start"] = start
            self.write()

    def mend(self):
        """After a move: the executables' absolute interpreter path is set again."""
        for name in [SERVER, *TOOLS]:
            program = self.folder / name
            if self["loader"] and program.exists():
                aside = self.folder / f".{name}.new"  # a running program cannot be written to
                try:
                    aside.write_bytes(program.read_bytes())
                    aside.chmod(0o755)
                    elf.set_interpreter(aside, self.folder / self["loader"])
                    aside.replace(program)
                finally:
                    aside.unlink(missing_ok=True)
                self["files"][name] = sha256(program)
        self.description["path"] = str(self.folder)
        self.write()
        self.settle()


def make_independent(folder, target, loader):
    """Every ELF file finds its libraries beside itself; the executables use the pack's own loader.

    Files in folders below are data, though a GPU's code may be in ELF files too.
    """
    paths = [path for path in sorted(folder.iterdir()) if path.is_file() and path.name != loader]
    patched = [path for path in paths if elf.is_elf(path)]
    say(f"patching {len(patched)} files")
    elf.find_libraries_beside(patched)
    for path in patched:
        if path.name.startswith("libggml"):
            elf.forget_plugin_folder(path)
        runs = path.name in [SERVER, *TOOLS]
        if runs and loader:
            elf.set_interpreter(path, target / loader)
        path.chmod(0o755 if runs else 0o644)
    if loader:
        (folder / loader).chmod(0o755)


def file_names(folder):
    """All files below `folder`, as relative names, without engine.json."""
    found = []
    for place, _, names in os.walk(folder):
        found += [os.path.relpath(os.path.join(place, name), folder) for name in names]
    return sorted(name for name in found if name != DESCRIPTION)


def hashes(folder, names, label):
    total = sum((folder / name).stat().st_size for name in names)
    with Progress(label, total) as progress:
        return {name: sha256(folder / name, progress.add) for name in names}


# ---- which GPUs it has code for


def gfx_targets(folder):
    """AMD's instruction sets that a HIP build has code for, from its files; empty: it cannot be told.

    The offload bundle in ggml's plug-in names each target, unless it is compressed or generic. rocBLAS
    has a file or more for each, where it lies in the pack. A GPU needs both.
    """
    lists = []
    for plugin in folder.glob("libggml-hip*.so*"):
        if targets := bundle_targets(plugin):
            lists.append(targets)
    kernels = re.compile(r"rocblas/(?:[^/]+/)?library/.*[_-](gfx[0-9a-f]+)\b")  # Debian's lie below a version
    blas = {match[1] for name in file_names(folder) if (match := kernels.search(name))}
    if not lists:
        return []
    common = set.intersection(*lists, *([blas] if blas else []))
    return sorted(common, key=lambda name: (len(name), name))


def bundle_targets(path):
    """Names after a code object's triple in a file, as "hipv4-amdgcn-amd-amdhsa--gfx1100"; features left out."""
    if path.stat().st_size == 0:
        return set()  # which cannot be mapped
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        found = re.findall(rb"hip[v0-9]*-amdgcn-amd-amdhsa-(?:unknown)?-(gfx[0-9a-f]+)(-generic)?", content)
    return set() if any(generic for _, generic in found) else {name.decode() for name, _ in found}


# ---- what a server prints


def parse_version(text):
    """(build, version) of `version: 0.7.0 (build 11669, commit abc)` or the older `version: 5882 (abc)`."""
    match = re.search(r"^version: (.*\S)", text, re.MULTILINE)
    build = match and (re.search(r"\bbuild (\d+)", match[1]) or re.match(r"(\d+) \(", match[1]))
    if not build:
        raise Damaged(f"{SERVER} --version names no build: {commands.last_line(text)!r}")
    return int(build[1]), match[1]


def parse_flags(text):
    """Every flag, long and short, that begins a line of --help."""
    flags = set()
    for line in text.splitlines():
        while match := re.match(r"(-{1,2}[A-Za-z0-9][\w.-]*)(,\s*)?", line):
            flags.add(match[1])
            if not match[2]:
                break
            line = line[match.end():]
    if not {"-m", "--host", "--port"} <= flags:
        raise Damaged(f"{SERVER} --help lists no flags that are known")
    return sorted(flags)


def parse_devices(text):
    """Names after `Available devices:`; none where it says (none)."""
    _, _, rest = text.partition("Available devices:")
    return re.findall(r"^ +(\w+): ", rest, re.MULTILINE)
